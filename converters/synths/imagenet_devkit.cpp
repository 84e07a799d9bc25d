#include "converters/synths/imagenet_devkit.h"

#include <algorithm>
#include <string>

#include "converters/imagenet/mat_file.h"
#include "converters/imagenet/wnids.h"
#include "converters/synths/scenes.h"
#include "formats/base/error.h"
#include "formats/io/gzip.h"
#include "formats/io/tar_writer.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr unsigned groups = 10;  // inner synsets: one above all, and one above each group

// A step that no factor of 1,000 divides reaches every id once. Class 65 gets id 490, as published.
unsigned id_of(unsigned label) { return (label * 387 + 334) % scene_classes + 1; }

MatArray numbers(std::vector<double> values) {
  MatArray array;
  array.dimensions = {1, static_cast<std::uint32_t>(values.size())};
  array.numbers = std::move(values);
  return array;
}

MatArray text(std::string value) {
  MatArray array;
  array.kind = MatArray::Kind::text;
  array.dimensions = {1, static_cast<std::uint32_t>(value.size())};
  array.text = std::move(value);
  return array;
}

struct Synset {
  double id = 0;
  std::string wnid;
  std::string words;
  std::vector<double> children;
  double height = 0;  // above the classes
  double train_images = 0;
};

void add(MatArray& synsets, const Synset& synset) {
  for (MatArray field :
       {numbers({synset.id}), text(synset.wnid), text(synset.words),
        text(join("a drawing: ", synset.words)),
        numbers({static_cast<double>(synset.children.size())}), numbers(synset.children),
        numbers({synset.height}), numbers({synset.train_images})}) {
    synsets.elements.push_back(std::move(field));
  }
}

void add_inner(MatArray& synsets) {
  Synset all{scene_classes + 1, "n00001740", "drawing", {}, 2, 0};
  std::vector<Synset> inner;
  for (unsigned group = 0; group < groups; ++group) {
    Synset& one = inner.emplace_back();
    one = {static_cast<double>(scene_classes + 2 + group),
           join("n0000175", group),
           join("drawing of group ", group),
           {},
           1,
           0};
    for (unsigned label = group; label < scene_classes; label += groups) {
      one.children.push_back(id_of(label));
    }
    all.children.push_back(one.id);
  }
  add(synsets, all);
  for (const Synset& one : inner) add(synsets, one);
}

Buffer make_meta(const MadeLabels& labels) {
  MatArray synsets;
  synsets.kind = MatArray::Kind::structs;
  synsets.name = "synsets";
  synsets.dimensions = {scene_classes + 1 + groups, 1};
  synsets.fields = {"ILSVRC2012_ID", "WNID",     "words",          "gloss",
                    "num_children",  "children", "wordnet_height", "num_train_images"};
  std::vector<unsigned> label_of(scene_classes);
  for (unsigned label = 0; label < scene_classes; ++label) label_of[id_of(label) - 1] = label;
  for (const unsigned label : label_of) {
    add(synsets, {static_cast<double>(id_of(label)),
                  imagenet_wnids()[label],
                  scene_words(label),
                  {},
                  0,
                  static_cast<double>(labels.train_images[label])});
  }
  add_inner(synsets);
  return write_mat_file({synsets});
}

}  // namespace

void write_imagenet_devkit(const std::filesystem::path& file, const MadeLabels& labels) {
  std::string ground_truth;
  for (const std::int32_t label : labels.val) {
    ground_truth += join(id_of(static_cast<unsigned>(label)), '\n');
  }
  GzipFile gzip(file);
  TarWriter tar(gzip);
  const std::string folder = "ILSVRC2012_devkit_t12/";
  tar.add(folder + "readme.txt",
          as_bytes("Made by feedrate synth: drawings in the packaging of ILSVRC2012.\n"));
  tar.add(folder + "data/ILSVRC2012_validation_ground_truth.txt", as_bytes(ground_truth));
  tar.add(folder + "data/meta.mat", make_meta(labels));
  tar.finish();
  gzip.close();
}

}  // namespace feedrate::converters
