#pragma once
// A codec is how the pixels of one image are encoded. Stateless: any thread, any number at once.

#include <span>

#include "formats/base/kind.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

class Codec : public Kind {
 public:
  using Kind::Kind;

  /// True when the first bytes carry this codec's signature (`raw` has none: never true).
  virtual bool knows(Bytes encoded) const = 0;
  /// Shape that decoding will give: grey or RGB. Reads headers only. Throws Error on damage.
  virtual Shape shape(Bytes encoded) const = 0;
  /// Decodes into `pixels` (shape.bytes() bytes, HWC). Throws Error on damage or another shape.
  virtual void decode(Bytes encoded, Shape shape, MutableBytes pixels) const = 0;
  /// Decodes `part`, which is not empty and lies inside an image of that shape, and says where its
  /// pixels are: in `memory`, which grows and is kept, or in `encoded` itself. They are decode()'s.
  /// What the part does not need may stay unread, so that damage there is not found.
  virtual PixelRows decode_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory) const;
  /// Replaces `encoded` by the image's encoded bytes. The same pixels and quality give the same
  /// bytes. `quality`: 1 … 100 where has_quality(), 0 its default; others ignore it.
  virtual void encode(const ImageView& image, int quality, Buffer& encoded) const = 0;
  void encode(const ImageView& image, Buffer& encoded) const { encode(image, 0, encoded); }
  /// True for bytes of another codec that become this one's without losing a pixel.
  virtual bool recodes(const Codec&) const { return false; }
  /// Replaces `to` by the same image in this codec. Only where it recodes(). Throws Error on
  /// damage.
  virtual void recode(Bytes encoded, Buffer& to) const;
  /// True for a codec that loses pixels by a quality: `jpeg:90`.
  virtual bool has_quality() const { return false; }
  /// What file names of such images end in, without the dot.
  virtual std::string_view extension() const { return name(); }
};

/// All codecs, in the order of help.
std::span<const Codec* const> codecs();
/// By name; throws Error with the nearest name.
const Codec& codec(std::string_view name);
/// By signature; null when no codec knows the bytes.
const Codec* codec_of(Bytes encoded);
/// By signature; throws Error that says what the bytes look like when no codec knows them.
const Codec& codec_for(Bytes encoded);

/// What a picture (or a usual mistake for one) is by its first bytes: "JPEG", "GIF", "an HTML
/// page". Empty when the bytes are like none of them.
std::string_view looks_like(Bytes bytes);

// The rows that other files name directly.
extern const Codec& raw_codec;
extern const Codec& png_codec;
extern const Codec& jpeg_codec;
extern const Codec& packed_codec;

}  // namespace feedrate::formats
