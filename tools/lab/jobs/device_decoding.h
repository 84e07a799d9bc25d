#pragma once
// A device that decodes what a loader leaves packed, as the consumer of its batches.

#include <memory>
#include <optional>
#include <string>

#include "formats/dataset.h"
#include "loader/drive.h"
#include "trainer/backends/image_decoder.h"

namespace feedrate::tools {

/// What a device decoded.
struct DeviceDecoded {
  std::string device;
  trainer::DecodeCounts counts{};
  std::uint64_t pixel_bytes = 0;  // of all images, decoded

  /// A line: how many images, who decoded the others, bytes uploaded.
  std::string text() const;
};

/// Throws Misused where no device can decode for the recipe, since it works on pixels.
void expect_no_work_on_pixels(const loader::Recipe& recipe);
/// The same, and where the dataset holds no packed JPEGs.
void expect_device_decodes(const formats::Dataset& dataset, const loader::Recipe& recipe);

/// For one loader with batches of PixelType::packed. One thread.
class DeviceDecoding {
 public:
  /// For batches of up to `batch` images. Throws Error when the device cannot be used here.
  DeviceDecoding(const std::string& device, const formats::Dataset& dataset, std::uint32_t batch);
  ~DeviceDecoding();

  /// Makes a loader leave JPEGs packed, in the memory that the device reads fastest.
  void set(loader::LoaderOptions& options) const;
  /// Makes drive() give its batches to the device; with options.digest it hashes their pixels.
  /// Errors name the dataset.
  void set(loader::DriveOptions& options);
  DeviceDecoded decoded() const;

 private:
  std::span<const std::byte> take(const loader::Batch& batch, bool look);
  void finish();

  std::string device_;
  const formats::Dataset& dataset_;
  std::uint32_t batch_;
  std::unique_ptr<trainer::ImageDecoder> decoder_;  // made when the first batch has come
  std::size_t image_bytes_ = 0;
};

}  // namespace feedrate::tools
