#pragma once
// One sample on its way through a conversion, and what a thread does to it between read and write.

#include <string>

#include "converters/convert.h"

namespace feedrate::converters {

/// What is done to every sample.
struct Treatment {
  formats::Encoding encoding;  // keep, or the codec to be written
  const formats::Container* container = nullptr;
  std::optional<formats::Resize> resize = {};
  Fix fix = Fix::keep;
  bool check = true;          // of what is not decoded
  std::uint32_t classes = 0;  // that the source states; 0: none
  bool one_label = false;     // of lists
};

/// Reusable memory for the work of one thread.
struct ItemScratch {
  formats::Buffer pixels;
  formats::Buffer resized;
  formats::ResizeScratch resize;
};

struct Item {
  formats::Sample sample;  // after take(): as read; after treat(): as written
  std::uint64_t position = 0;
  formats::StoredDigest stored{};  // of the bytes to be written
  formats::Sha256 pixels{};        // of the image a reader will see
  bool decoded = false;            // `pixels` is set: not for a JPEG that was kept
  bool mended = false;
  bool doubtful = false;  // it was read, but a strict decoder warns of damage
  std::string problem;    // why the sample is bad; empty if it is not

  /// Takes the sample at position `at` of a stream; copies its memory unless it is `lasting`.
  void take(const formats::Sample& from, std::uint64_t at, bool lasting);
  /// Turns the sample into the bytes to be written. If it was `decoded`, its image is in
  /// `scratch.pixels`. Throws Error for a bad sample.
  void treat(const Treatment& treatment, ItemScratch& scratch);

 private:
  void check(ItemScratch& scratch);
  void decode_to(formats::Shape target, ItemScratch& scratch);
  void recode(const formats::Codec& codec);
  void encode(const formats::Codec& codec, int quality, const formats::ImageView& image);
  void take_encoded(const formats::Codec& codec);

  formats::Buffer bytes_;
  formats::Buffer encoded_;
  std::string name_;
  std::vector<formats::Box> boxes_;
  std::vector<float> labels_;
};

}  // namespace feedrate::converters
