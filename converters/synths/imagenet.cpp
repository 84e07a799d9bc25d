#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "converters/imagenet/devkit.h"
#include "converters/imagenet/wnids.h"
#include "converters/synths/imagenet_devkit.h"
#include "converters/synths/odd_images.h"
#include "converters/synths/rows.h"
#include "converters/synths/scenes.h"
#include "formats/base/error.h"
#include "formats/io/gzip.h"
#include "formats/io/tar_writer.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint64_t max_images = 2'000'000;
constexpr std::uint64_t images_a_class = 50;   // as long as there are classes left
constexpr std::uint64_t images_a_block = 64;   // drawn in parallel, then written
constexpr std::uint64_t train_a_val = 25;      // as published: 1,281,167 to 50,000
constexpr std::uint64_t enough_for_odd = 100;  // images, before CMYK and PNG are among them

// Keep the draws of what is made apart.
enum Split : std::uint64_t { train_split, val_split, val_labels };

// Mostly landscape, 500 long; some upright, some of any size, a few large.
Shape any_shape(Draws& draws) {
  const std::uint32_t kind = draws.below(100);
  if (kind < 60) return {333 + draws.below(43), 500, 3};
  if (kind < 80) return {500, 333 + draws.below(43), 3};
  if (kind < 98) return {120 + draws.below(400), 140 + draws.below(460), 3};
  return {900 + draws.below(300), 1200 + draws.below(400), 3};
}

struct Made {
  std::string name;
  Buffer bytes;
  std::string annotation;
};

std::string annotation_of(std::string_view folder, std::string_view name, Shape shape,
                          std::string_view wnid, const SceneBox& box) {
  return join(
      "<annotation>\n\t<folder>", folder, "</folder>\n\t<filename>", name,
      "</filename>\n\t<source>\n\t\t<database>feedrate synth</database>\n\t</source>\n",
      "\t<size>\n\t\t<width>", shape.width, "</width>\n\t\t<height>", shape.height,
      "</height>\n\t\t<depth>3</depth>\n\t</size>\n\t<segmented>0</segmented>\n\t<object>\n",
      "\t\t<name>", wnid, "</name>\n\t\t<bndbox>\n\t\t\t<xmin>", box.xmin, "</xmin>\n\t\t\t<ymin>",
      box.ymin, "</ymin>\n\t\t\t<xmax>", box.xmax, "</xmax>\n\t\t\t<ymax>", box.ymax,
      "</ymax>\n\t\t</bndbox>\n\t</object>\n</annotation>\n");
}

// A tar.gz of annotations.
class BoxArchive {
 public:
  explicit BoxArchive(const std::filesystem::path& file) : gzip_(file), tar_(gzip_) {}
  void add(const std::string& folder, const Made& made) {
    if (made.annotation.empty()) return;
    tar_.add(join(folder, "/", made.name, ".xml"), as_bytes(made.annotation));
  }
  void close() {
    tar_.finish();
    gzip_.close();
  }

 private:
  GzipFile gzip_;
  TarWriter tar_;
};

struct BufferSink {
  Buffer bytes;
  void write(Bytes more) { append(bytes, more); }
};

class Maker {
 public:
  Maker(const std::filesystem::path& directory, const SynthOptions& options)
      : directory_(directory),
        options_(options),
        val_images_(
            std::clamp<std::uint64_t>(options.images / train_a_val, 1, imagenet_val_images)) {
    const std::uint64_t classes =
        std::clamp<std::uint64_t>(options.images / images_a_class, 2, imagenet_classes);
    for (std::uint64_t i = 0; i < classes && i < options.images; ++i) {
      classes_.push_back(static_cast<unsigned>(i * imagenet_classes / classes));
    }
    labels_.train_images.resize(imagenet_classes);
    for (std::uint64_t i = 0; i < imagenet_val_images; ++i) {
      Draws draws(options.seed, val_labels, i);
      const std::uint32_t pick = draws.below(static_cast<std::uint32_t>(classes_.size()));
      labels_.val.push_back(static_cast<std::int32_t>(classes_[pick]));
    }
  }

  void make() {
    make_train();
    make_val();
    write_imagenet_devkit(directory_ / "ILSVRC2012_devkit_t12.tar.gz", labels_);
  }

 private:
  void make_train() {
    OutputFile file(directory_ / "ILSVRC2012_img_train.tar");
    TarWriter tar(file);
    BoxArchive boxes(directory_ / "ILSVRC2012_bbox_train_v2.tar.gz");
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const std::uint64_t first = options_.images * i / classes_.size();
      const std::uint64_t last = options_.images * (i + 1) / classes_.size();
      const unsigned label = classes_[i];
      labels_.train_images[label] = last - first;
      const std::string& wnid = imagenet_wnids()[label];
      BufferSink sink;
      TarWriter inner(sink);
      make_blocks(
          first, last, [&](std::uint64_t index) { return draw_train(label, index); },
          [&](const Made& made) {
            inner.add(made.name + ".JPEG", made.bytes);
            boxes.add(wnid, made);
          });
      inner.finish();
      tar.add(wnid + ".tar", sink.bytes);
    }
    tar.finish();
    file.close();
    boxes.close();
  }

  // The published tar is in no order, so this one is not in that of names either.
  void make_val() {
    OutputFile file(directory_ / "ILSVRC2012_img_val.tar");
    TarWriter tar(file);
    BoxArchive boxes(directory_ / "ILSVRC2012_bbox_val_v3.tgz");
    std::uint64_t step = std::max<std::uint64_t>(val_images_ * 5 / 8, 1);
    while (std::gcd(step, val_images_) != 1) ++step;
    make_blocks(
        0, val_images_,
        [&](std::uint64_t i) { return draw_val((i * step + val_images_ / 2) % val_images_); },
        [&](const Made& made) {
          tar.add(made.name + ".JPEG", made.bytes);
          boxes.add("val", made);
        });
    tar.finish();
    file.close();
    boxes.close();
  }

  template <class Draw, class Take>
  void make_blocks(std::uint64_t first, std::uint64_t last, Draw draw, Take take) {
    std::vector<Made> block(images_a_block);
    for (; first < last; first += images_a_block) {
      const std::uint64_t count = std::min(images_a_block, last - first);
      oneapi::tbb::parallel_for(std::uint64_t{0}, count,
                                [&](std::uint64_t i) { block[i] = draw(first + i); });
      for (std::uint64_t i = 0; i < count; ++i) take(block[i]);
      done_ += count;
      if (options_.progress) options_.progress(done_, options_.images + val_images_);
    }
  }

  Made draw_train(unsigned label, std::uint64_t index) const {
    const std::string& wnid = imagenet_wnids()[label];
    Draws draws(options_.seed, train_split, index);
    Made made;
    made.name = join(wnid, "_", 7 * index + draws.below(7));
    constexpr std::uint32_t annotated = 2, of = 5;  // about as many as in the published set
    const bool with_box = draws.below(of) < annotated;
    draw(label, draws, storing_of(index, draws), wnid, made);
    if (!with_box) made.annotation.clear();
    return made;
  }

  Made draw_val(std::uint64_t index) const {
    const auto label = static_cast<unsigned>(labels_.val[index]);
    Draws draws(options_.seed, val_split, index);
    Made made;
    made.name = join("ILSVRC2012_val_", std::to_string(100'000'000 + index + 1).substr(1));
    const bool grey = draws.below(50) == 0;
    draw(label, draws, grey ? Storing::grey : Storing::colour, "val", made);
    return made;
  }

  // A CMYK image and a PNG among the first hundred, as there are some among the published million;
  // now and then one in grey, or with an EXIF orientation.
  Storing storing_of(std::uint64_t index, Draws& draws) const {
    const std::uint32_t odd = draws.below(50);
    constexpr std::uint64_t cmyk_index = 23, png_index = 71;
    if (options_.images >= enough_for_odd && index == cmyk_index) return Storing::cmyk;
    if (options_.images >= enough_for_odd && index == png_index) return Storing::png;
    if (odd == 0) return Storing::grey;
    return odd == 1 ? Storing::turned : Storing::colour;
  }

  static void draw(unsigned label, Draws& draws, Storing storing, std::string_view folder,
                   Made& made) {
    Image image{any_shape(draws), {}};
    const int quality = static_cast<int>(87 + draws.below(10));
    image.pixels.resize(image.shape.bytes());
    const SceneBox box = draw_scene(label, draws, image.shape, image.pixels);
    store_image(image, storing, quality, made.bytes);
    made.annotation = annotation_of(folder, made.name, image.shape, imagenet_wnids()[label], box);
  }

  const std::filesystem::path& directory_;
  const SynthOptions& options_;
  const std::uint64_t val_images_;
  std::vector<unsigned> classes_;  // that images are made of, in order
  MadeLabels labels_;
  std::uint64_t done_ = 0;
};

class ImagenetSynth final : public Synth {
 public:
  ImagenetSynth()
      : Synth("imagenet",
              "drawn scenes in ILSVRC2012's tars, devkit and boxes: N to train, N/25 to val") {}

  void make(const std::filesystem::path& directory, const SynthOptions& options) const override {
    if (options.images == 0 || options.images > max_images) {
      throw Error(join("cannot make ", options.images, " images; from 1 to ", max_images));
    }
    Maker(directory, options).make();
  }
};

const ImagenetSynth row;

}  // namespace

const Synth& imagenet_synth = row;

}  // namespace feedrate::converters
