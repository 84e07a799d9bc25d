#include "converters/pipeline/item.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/base/label_problem.h"
#include "formats/codecs/jpeg/jpeg.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr int mended_quality = 100;  // as Inception's conversion

// A CMYK JPEG, or an image of another codec under the name of a JPEG.
bool needs_mending(const Sample& sample) {
  if (sample.codec == &jpeg_codec) return jpeg_header(sample.bytes).components == 4;
  if (sample.codec == &packed_codec) return false;  // made from a JPEG
  std::string name(sample.name.substr(sample.name.rfind('.') + 1));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return sample.codec != &raw_codec && (name == "jpeg" || name == "jpg");
}

}  // namespace

void Item::take(const Sample& from, std::uint64_t at, bool lasting) {
  sample = from;
  position = at;
  decoded = mended = doubtful = false;
  problem.clear();
  if (lasting) return;
  bytes_.assign(from.bytes.begin(), from.bytes.end());
  name_.assign(from.name);
  boxes_.assign(from.boxes.begin(), from.boxes.end());
  labels_.assign(from.labels.begin(), from.labels.end());
  sample.bytes = bytes_;
  sample.name = name_;
  sample.boxes = boxes_;
  sample.labels = labels_;
}

void Item::treat(const Treatment& treatment, ItemScratch& scratch) {
  const bool listed = !sample.labels.empty() && !treatment.one_label;
  const std::string bad_label = label_problem(sample.label, treatment.classes, listed);
  if (!bad_label.empty()) throw Error(bad_label);
  if (sample.codec == nullptr) sample.codec = &codec_for(sample.bytes);
  if (sample.shape == Shape{}) sample.shape = sample.codec->shape(sample.bytes);
  const Encoding& encoding = treatment.encoding;
  const Shape target = treatment.resize ? treatment.resize->target(sample.shape) : sample.shape;
  const bool kept = target == sample.shape &&
                    (encoding.keeps() || (encoding.codec == sample.codec && encoding.quality == 0));
  const bool recoded = !kept && target == sample.shape && !encoding.keeps() &&
                       encoding.quality == 0 && encoding.codec->recodes(*sample.codec);
  const bool mending = kept && treatment.fix == Fix::reencode && needs_mending(sample);
  const Codec& codec = mending ? jpeg_codec : encoding.keeps() ? *sample.codec : *encoding.codec;
  if (!treatment.container->accepts(codec)) {
    throw Error(join(treatment.container->name(), " does not hold ", codec.name(),
                     " images; choose another codec with --encode"));
  }
  if (!kept && !codec.encodes()) {
    throw Error(join(codec.name(), " images are read, not written; choose a codec with --encode"));
  }
  mended = mending;
  // Of a JPEG that is kept, only the codes are read: pixels would take twice as long.
  decoded = !kept || mending || !codec.has_quality();
  if (recoded) {
    if (treatment.check) check(scratch);
    recode(codec);
    scratch.pixels.resize(target.bytes());
  } else if (decoded) {
    decode_to(target, scratch);
    if (mending) encode(codec, mended_quality, {target, scratch.pixels});
    if (!kept) encode(codec, encoding.quality, {target, scratch.pixels});
  } else if (treatment.check) {
    check(scratch);
  }
  const ImageView image(target, scratch.pixels);
  // Digest and mean are of the pixels that the dataset gives, after lossy encoding.
  if (decoded && codec.has_quality()) decode(sample, scratch.pixels);
  if (decoded) pixels = sample_digest(sample.label, image);
  stored =
      &codec == &raw_codec ? raw_stored_digest(pixels) : stored_digest(sample.label, sample.bytes);
}

void Item::check(ItemScratch& scratch) {
  const bool as_stated =
      sample.codec == &jpeg_codec && jpeg_header(sample.bytes).shape == sample.shape;
  if (as_stated && is_sound_jpeg(sample.bytes)) return;
  scratch.pixels.resize(sample.shape.bytes());
  doubtful = !decode_strictly(sample, scratch.pixels).empty();
}

void Item::decode_to(Shape target, ItemScratch& scratch) {
  scratch.pixels.resize(sample.shape.bytes());
  doubtful = !decode_strictly(sample, scratch.pixels).empty();
  if (target == sample.shape) return;
  scratch.resized.resize(target.bytes());
  resize({sample.shape, scratch.pixels}, target, scratch.resized, scratch.resize);
  scratch.pixels.swap(scratch.resized);
  sample.shape = target;
}

void Item::recode(const Codec& codec) {
  codec.recode(sample.bytes, encoded_);
  take_encoded(codec);
}

void Item::encode(const Codec& codec, int quality, const ImageView& image) {
  codec.encode(image, quality, encoded_);
  take_encoded(codec);
}

void Item::take_encoded(const Codec& codec) {
  // The previous bytes are the encoder's input, so they are replaced only once it is done.
  bytes_.swap(encoded_);
  sample.bytes = bytes_;
  sample.codec = &codec;
  sample.order = PixelOrder::interleaved;
}

}  // namespace feedrate::converters
