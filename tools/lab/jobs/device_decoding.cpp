#include "tools/lab/jobs/device_decoding.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "loader/settings.h"
#include "tools/console/advised_error.h"
#include "tools/console/text.h"
#include "tools/lab/jobs/devices.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

template <class Check>
void misused_unless(const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    throw Misused(error.what());
  }
}

}  // namespace

std::string DeviceDecoded::text() const {
  const std::uint64_t others = counts.images - counts.packed;
  const std::uint64_t images = std::max<std::uint64_t>(1, counts.images);
  std::string line =
      fmt::format("{} decoded {} of {}; {} an image uploaded, pixels are {}", device,
                  grouped(counts.packed), counted(counts.images, "image"),
                  bytes_text(counts.uploaded_bytes / images), bytes_text(pixel_bytes / images));
  if (others == 0) return line;
  line += fmt::format("; the loader decoded {}", grouped(others));
  if (counts.too_large > 0) {
    line += fmt::format(", {} of them too large to be left packed", grouped(counts.too_large));
  }
  return line;
}

void expect_no_work_on_pixels(const Recipe& recipe) {
  misused_unless([&] { check_device_decodes(recipe, Spelling::shell); });
}

void expect_device_decodes(const Dataset& dataset, const Recipe& recipe) {
  misused_unless([&] { check_device_decodes(dataset, recipe, Spelling::shell); });
}

DeviceDecoding::DeviceDecoding(const std::string& device, const Dataset& dataset,
                               std::uint32_t batch)
    : device_(device), dataset_(dataset), batch_(batch) {
  usable_backend(device);
}

DeviceDecoding::~DeviceDecoding() = default;

void DeviceDecoding::set(LoaderOptions& options) const {
  options.pixels.type = PixelType::packed;
  options.engine.memory = &backend(device_).pixel_memory();
}

void DeviceDecoding::set(DriveOptions& options) {
  options.take = [this, look = options.digest](const Batch& batch) { return take(batch, look); };
  options.finish = [this] { finish(); };
}

std::span<const std::byte> DeviceDecoding::take(const Batch& batch, bool look) {
  if (decoder_ == nullptr) {
    image_bytes_ = batch.shape.bytes();
    decoder_ = backend(device_).image_decoder({batch.shape, batch_, batch.seat_bytes});
  }
  try {
    decoder_->decode(batch);
    if (look) return decoder_->pixels();
  } catch (const Error& error) {
    fail(dataset_.info().path, error.what());
  }
  return {};
}

void DeviceDecoding::finish() {
  if (decoder_ == nullptr) return;
  try {
    decoder_->wait();
  } catch (const Error& error) {
    fail(dataset_.info().path, error.what());
  }
}

DeviceDecoded DeviceDecoding::decoded() const {
  DeviceDecoded result{.device = device_};
  if (decoder_ == nullptr) return result;
  result.counts = decoder_->counts();
  result.pixel_bytes = result.counts.images * image_bytes_;
  return result;
}

}  // namespace feedrate::tools
