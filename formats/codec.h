#pragma once
// A codec encodes and decodes the pixels of one image. Stateless: any thread, any number at once.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/kind.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

class Codec : public Kind {
 public:
  using Kind::Kind;

  /// True when the first bytes carry this codec's signature (`raw` has none: never true).
  virtual bool knows(Bytes encoded) const = 0;
  /// Shape of the decoded image: grey or RGB. Reads headers only. Throws Error on damage.
  virtual Shape shape(Bytes encoded) const = 0;
  /// Decodes into `pixels` (shape.bytes() bytes, HWC). Throws Error on damage and when the image
  /// has another shape.
  virtual void decode(Bytes encoded, Shape shape, MutableBytes pixels) const = 0;
  /// As decode(). Returns why the pixels, though other readers have the same, may still be wrong:
  /// what a strict decoder warns of. Empty where there is nothing.
  virtual std::string decode_strictly(Bytes encoded, Shape shape, MutableBytes pixels) const;
  /// Decodes only `part`, which is not empty and lies inside an image of that shape, to the same
  /// pixels as decode(). Returns where they are: in `memory`, which grows and is kept, or in
  /// `encoded` itself. Bytes that the part does not need may stay unread, so damage there goes
  /// unnoticed.
  virtual PixelRows decode_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory) const;
  /// Replaces `encoded` by the encoded image. The same pixels and quality give the same bytes.
  /// `quality` is 1 … 100, or 0 for the default; codecs without has_quality() ignore it.
  /// Call it only where encodes() is true.
  virtual void encode(const ImageView& image, int quality, Buffer& encoded) const;
  void encode(const ImageView& image, Buffer& encoded) const { encode(image, 0, encoded); }
  /// False for a codec whose images are read and kept, but not made.
  virtual bool encodes() const { return true; }
  /// True when `encoded` bytes of the other codec can become this one's without losing a pixel.
  virtual bool recodes(const Codec&) const { return false; }
  /// Replaces `to` by the same image in this codec. Call it only where recodes() is true. Throws
  /// Error on damage.
  virtual void recode(Bytes encoded, Buffer& to) const;
  /// True for a lossy codec that takes a quality: `jpeg:90`.
  virtual bool has_quality() const { return false; }
  /// Extension of file names of such images, without the dot.
  virtual std::string_view extension() const { return name(); }
};

/// All codecs, in the order of help.
std::span<const Codec* const> codecs();
/// The names of those that encode, in that order.
std::vector<std::string_view> encoder_names();
/// By name; throws Error with the nearest name.
const Codec& codec(std::string_view name);
/// By signature; null when no codec knows the bytes.
const Codec* codec_of(Bytes encoded);
/// By signature; when no codec knows the bytes, throws Error that says what they look like.
const Codec& codec_for(Bytes encoded);

/// The type of a picture, or of a file often mistaken for one, by its first bytes: "JPEG", "GIF",
/// "an HTML page". Empty when the type is unknown.
std::string_view looks_like(Bytes bytes);

// Rows that other files name directly; formats/codecs/list.inc names them all.
extern const Codec& raw_codec;
extern const Codec& png_codec;
extern const Codec& jpeg_codec;
extern const Codec& packed_codec;
extern const Codec& webp_codec;

}  // namespace feedrate::formats
