#pragma once
// One sample on its way through a conversion: what a thread does to it between reading and writing.

#include <string>

#include "converters/convert.h"

namespace feedrate::converters {

/// What is done to every sample.
struct Treatment {
  formats::Encoding encoding;  // keep, or the codec to be written
  const formats::Container* container = nullptr;
  std::optional<formats::Resize> resize = {};
  Fix fix = Fix::keep;
};

/// Memory of one thread's work, used again and again.
struct ItemScratch {
  formats::Buffer pixels;
  formats::Buffer resized;
  formats::ResizeScratch resize;
};

struct Item {
  formats::Sample sample;  // from take() on: what came; from treat() on: what is written
  std::uint64_t position = 0;
  formats::StoredDigest stored{};  // of the bytes to be written
  formats::Sha256 pixels{};        // of the image a reader will see
  bool decoded = false;            // `pixels` is known: not for a JPEG that was kept
  bool mended = false;
  std::string problem;  // not empty: the sample is bad, and this says why

  /// Takes a sample of a stream, copying it where the stream's memory does not last.
  void take(const formats::Sample& from, std::uint64_t at, bool lasting);
  /// Brings the sample into the bytes to be written. When `decoded`, its image is in
  /// `scratch.pixels`. Throws Error for a bad sample.
  void treat(const Treatment& treatment, ItemScratch& scratch);

 private:
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
