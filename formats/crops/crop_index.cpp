#include "formats/crops/crop_index.h"

#include "formats/base/error.h"
#include "formats/codecs/expect_shape.h"
#include "formats/codecs/jpeg/jpeg_index.h"
#include "formats/containers/shards.h"
#include "formats/containers/wishes.h"
#include "formats/crops/index_layout.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using namespace crops;

constexpr std::string_view file_name = "feedrate.crops";

std::string remedy(const Dataset& dataset) {
  return join("; 'feedrate index ", shown_path(dataset.info().path), " --crops' makes it again");
}

}  // namespace

fs::path crop_index_file(const fs::path& path) {
  const fs::path dataset = without_wishes(path);
  std::error_code ignored;
  if (fs::is_directory(dataset, ignored)) return dataset / file_name;
  // One shard stands for all of them, and so may a pattern.
  const std::string name = dataset.filename().string();
  if (!fs::is_regular_file(dataset, ignored) || parse_shard_name(name)) {
    return dataset.parent_path() / file_name;
  }
  return fs::path(dataset) += ".crops";
}

CropIndex::CropIndex(const fs::path& file, const Dataset& dataset) : file_(file) {
  const Bytes bytes = file_.bytes();
  const auto refuse = [&](const auto&... why) { fail(file, why..., remedy(dataset)); };
  if (bytes.size() < head_bytes || as_text(bytes.first(magic.size())) != magic) {
    refuse("is no crop index");
  }
  const auto found = load_le<std::uint32_t>(bytes.data() + magic.size());
  if (found != version) {
    refuse("is a crop index of version ", found, "; this Feedrate reads version ", version);
  }
  const Bytes foot = bytes.last(std::min(bytes.size(), foot_bytes));
  if (bytes.size() < head_bytes + foot_bytes ||
      load_le<std::uint64_t>(foot.data() + 16) != checksum(bytes, foot)) {
    refuse("is cut short or damaged at its end");
  }
  samples_ = load_le<std::uint64_t>(foot.data());
  const std::uint64_t room = bytes.size() - head_bytes - foot_bytes;
  if (samples_ >= room / sizeof(std::uint64_t)) {
    refuse("is cut short: ", bytes.size(), " bytes cannot hold ", samples_, " samples");
  }
  offsets_at_ = bytes.size() - foot_bytes - (samples_ + 1) * sizeof(std::uint64_t);
  if (samples_ != dataset.size()) {
    refuse("is the crop index of other data: of ", samples_, " samples, while there are ",
           dataset.size());
  }
}

Bytes CropIndex::entry(std::uint64_t sample) const {
  if (sample >= samples_) return {};
  const std::byte* offsets = file_.bytes().data() + offsets_at_ + sample * sizeof(std::uint64_t);
  const auto begin = load_le<std::uint64_t>(offsets);
  const auto end = load_le<std::uint64_t>(offsets + sizeof(std::uint64_t));
  if (begin == end) return {};
  // A damaged offset gives bytes that no JPEG has as its entry.
  if (begin > end || end > offsets_at_) return file_.bytes().first(1);
  return file_.bytes().subspan(begin, end - begin);
}

void CropIndex::look_ahead(std::uint64_t sample) const {
  if (const Bytes found = entry(sample); !found.empty()) file_.look_ahead(found);
}

std::string CropIndex::problem_of(std::uint64_t sample, const Sample& read) const {
  const Bytes found = entry(sample);
  Buffer expected;
  if (read.codec == &jpeg_codec) make_jpeg_index(read.bytes, expected);
  if (as_text(found) == as_text(expected)) return {};
  if (found.empty()) return "it has none, though its JPEG could have one";
  const auto header = read_jpeg_index_header(found);
  if (!header) return "it is damaged";
  return expected.empty() || !was_made_of(*header, read.bytes) ? "it was made of other bytes"
                                                               : "its points are wrong";
}

void CropIndex::audit() const {
  const Bytes bytes = file_.bytes();
  const Bytes offsets = bytes.subspan(offsets_at_, (samples_ + 1) * sizeof(std::uint64_t));
  if (load_le<std::uint64_t>(bytes.data() + bytes.size() - foot_bytes + 8) !=
      fingerprint(offsets)) {
    fail(path(), "the offsets of its entries are damaged, from byte ", offsets_at_, " on");
  }
}

FoundCropIndex find_crop_index(const Dataset& dataset) {
  FoundCropIndex found;
  const fs::path& path = dataset.info().path;
  if (path.empty()) return found;
  std::error_code ignored;
  fs::path file = crop_index_file(path);
  const bool own = fs::exists(file, ignored);
  if (!own) {
    // A single file of a dataset that has a directory.
    file = path.parent_path() / file_name;
    if (!fs::exists(file, ignored)) return found;
  }
  try {
    found.index.emplace(file, dataset);
  } catch (const Error& error) {
    if (own) found.problem = error.what();
  }
  return found;
}

PixelRows decode_part(const Sample& sample, const Rect& part, Buffer& memory, const JpegAid& aid) {
  if (sample.codec != &jpeg_codec) return decode_part(sample, part, memory);
  expect_shape(jpeg_codec.shape(sample.bytes), sample.shape, "JPEG");
  return decode_jpeg_part(sample.bytes, sample.shape, part, memory, aid);
}

}  // namespace feedrate::formats
