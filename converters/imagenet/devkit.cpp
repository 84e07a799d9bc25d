#include "converters/imagenet/devkit.h"

#include <algorithm>
#include <map>

#include "converters/archive.h"
#include "converters/imagenet/mat_file.h"
#include "converters/imagenet/wnids.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/base/wnid.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view meta_name = "meta.mat";
constexpr std::string_view ground_truth_name = "ILSVRC2012_validation_ground_truth.txt";
constexpr std::uint64_t max_file_bytes = 4 << 20;  // the genuine ones have fewer than 200,000

// The columns of meta.mat that tell the classes.
class Synsets {
 public:
  Synsets(const MatArray& synsets, const std::string& place) : synsets_(synsets), place_(place) {
    id_ = column("ILSVRC2012_ID");
    wnid_ = column("WNID");
    words_ = column("words");
    children_ = column("num_children");
  }

  std::size_t size() const { return synsets_.elements.size() / synsets_.fields.size(); }
  double id(std::size_t row) const { return number(row, id_); }
  double children(std::size_t row) const { return number(row, children_); }
  const std::string& wnid(std::size_t row) const { return at(row, wnid_).text; }
  const std::string& words(std::size_t row) const { return at(row, words_).text; }

 private:
  std::size_t column(std::string_view name) const {
    const auto found = std::ranges::find(synsets_.fields, name);
    if (found == synsets_.fields.end()) fail(place_, "synsets have no field ", name);
    return static_cast<std::size_t>(found - synsets_.fields.begin());
  }

  const MatArray& at(std::size_t row, std::size_t column) const {
    return synsets_.elements[row * synsets_.fields.size() + column];
  }

  double number(std::size_t row, std::size_t column) const {
    const MatArray& value = at(row, column);
    if (value.numbers.size() == 1) return value.numbers[0];
    fail(place_, "synset ", row, ": ", synsets_.fields[column], " is not a number");
  }

  const MatArray& synsets_;
  const std::string& place_;
  std::size_t id_ = 0;
  std::size_t wnid_ = 0;
  std::size_t words_ = 0;
  std::size_t children_ = 0;
};

struct Class {
  std::string wnid;
  std::string words;
  std::size_t id = 0;  // 1 … 1000
};

// Sorted by wnid.
std::vector<Class> read_classes(Bytes meta, const std::string& place) {
  const std::vector<MatArray> variables = read_mat_file(meta, place);
  const auto found = std::ranges::find(variables, "synsets", &MatArray::name);
  if (found == variables.end() || found->kind != MatArray::Kind::structs) {
    fail(place, "has no structs called synsets; is it the devkit of ILSVRC2012?");
  }
  const Synsets synsets(*found, place);
  std::vector<Class> classes;
  std::vector<bool> seen(imagenet_classes + 1);
  for (std::size_t row = 0; row < synsets.size(); ++row) {
    if (synsets.children(row) != 0) continue;
    const double id = synsets.id(row);
    if (!(id >= 1 && id <= imagenet_classes) || id != static_cast<double>(static_cast<int>(id))) {
      fail(place, "synset ", row, ": expected an ILSVRC2012_ID of 1 to ", imagenet_classes,
           " where there are no children, found ", id);
    }
    const auto number = static_cast<std::size_t>(id);
    if (seen[number]) fail(place, "synset ", row, ": ILSVRC2012_ID ", number, " comes twice");
    seen[number] = true;
    if (!is_wnid(synsets.wnid(row))) {
      fail(place, "synset ", row, ": expected a WNID like n01440764, found ", synsets.wnid(row));
    }
    classes.push_back({synsets.wnid(row), synsets.words(row), number});
  }
  if (classes.size() != imagenet_classes) {
    fail(place, "expected ", imagenet_classes, " synsets without children, found ", classes.size());
  }
  std::ranges::sort(classes, {}, &Class::wnid);
  const auto twice = std::ranges::adjacent_find(classes, {}, &Class::wnid);
  if (twice != classes.end()) fail(place, "the WNID ", twice->wnid, " comes twice");
  return classes;
}

struct Found {
  fs::path file;      // that was given or found
  std::string place;  // the file, or the entry of it
  Buffer content;
};

class Search {
 public:
  void look_into(const fs::path& input) {
    if (fs::is_directory(input)) {
      look_into_directory(input);
    } else {
      look_into_archive(input);
    }
  }

  const Found* get(DevkitFile kind) const {
    const auto found = found_.find(kind);
    return found != found_.end() ? &found->second : nullptr;
  }

 private:
  void look_into_directory(const fs::path& directory) {
    for (const char* inside : {"", "data", "ILSVRC2012_devkit_t12/data"}) {
      for (const std::string_view name : {meta_name, ground_truth_name}) {
        const fs::path file = directory / inside / name;
        if (fs::is_regular_file(file)) look_into_archive(file);
      }
    }
  }

  // A file that is no archive is one entry of its own name.
  void look_into_archive(const fs::path& file) {
    Archive archive(file);
    while (archive.next()) {
      const auto kind = devkit_file(archive.name());
      if (!kind) continue;
      Found& found = found_[*kind];
      found.file = file;
      found.place = archive.place();
      archive.read_all(found.content, max_file_bytes);
    }
  }

  std::map<DevkitFile, Found> found_;
};

std::vector<std::int32_t> read_ground_truth(const Found& found,
                                            const std::vector<std::int32_t>& label_of_id) {
  std::vector<std::int32_t> labels;
  std::string_view rest = as_text(found.content);
  while (!rest.empty()) {
    const std::string_view text = take_line(rest);
    const auto id = parse_number<std::size_t>(text);
    if (!id || *id < 1 || *id > imagenet_classes) {
      fail(found.place, "line ", labels.size() + 1, ": expected an ILSVRC2012_ID of 1 to ",
           imagenet_classes, ", found \"", text.substr(0, 40), "\"");
    }
    labels.push_back(label_of_id[*id]);
  }
  if (labels.size() != imagenet_val_images) {
    fail(found.place, "expected ", imagenet_val_images,
         " lines, one for each validation image, found ", labels.size());
  }
  return labels;
}

}  // namespace

std::optional<DevkitFile> devkit_file(std::string_view name) {
  const std::string base = fs::path(name).filename().string();
  if (base == meta_name) return DevkitFile::meta;
  if (base == ground_truth_name) return DevkitFile::ground_truth;
  return std::nullopt;
}

Devkit read_devkit(const std::vector<fs::path>& inputs) {
  if (inputs.empty()) throw Error("imagenet: no devkit given");
  Search search;
  for (const fs::path& input : inputs) search.look_into(input);
  const Found* meta = search.get(DevkitFile::meta);
  if (meta == nullptr) {
    fail(inputs.front(), "holds no ", meta_name,
         "; give ILSVRC2012_devkit_t12.tar.gz or the directory it unpacks to");
  }
  Devkit devkit;
  devkit.files = {meta->file};
  std::vector<std::int32_t> label_of_id(imagenet_classes + 1);
  for (const Class& one : read_classes(meta->content, meta->place)) {
    label_of_id[one.id] = static_cast<std::int32_t>(devkit.wnids.size());
    devkit.wnids.push_back(one.wnid);
    devkit.words.push_back(one.words);
  }
  if (const Found* truth = search.get(DevkitFile::ground_truth)) {
    devkit.val_labels = read_ground_truth(*truth, label_of_id);
    if (truth->file != meta->file) devkit.files.push_back(truth->file);
  }
  return devkit;
}

}  // namespace feedrate::converters
