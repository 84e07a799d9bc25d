// TensorFlow's TFRecord: files of tf.Examples, often many of them ("train-00000-of-01024"), plain
// or compressed. Samples come in the order of the shards and, within a shard, of the records.
//
// The path of one shard opens the whole set. When other shards are missing it opens that file
// alone, unless a sidecar says that the set was written by Feedrate and complete.

#include <algorithm>
#include <atomic>
#include <cassert>

#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/base/text.h"
#include "formats/container.h"
#include "formats/containers/braces.h"
#include "formats/containers/describe.h"
#include "formats/containers/file_set.h"
#include "formats/containers/placed.h"
#include "formats/containers/shards.h"
#include "formats/containers/text_classes.h"
#include "formats/containers/tfrecord/image_example.h"
#include "formats/containers/tfrecord/label_rule.h"
#include "formats/containers/tfrecord/tfrecord_index.h"
#include "formats/containers/tfrecord/tfrecord_shard.h"
#include "formats/containers/tfrecord/tfrecord_writer.h"
#include "formats/io/file.h"

namespace feedrate::formats {

extern const Container& tfrecord_container;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_openers = 16;  // threads, which mostly wait

constexpr std::string_view endings[] = {
    ".tfrecord",    ".tfrecords",    ".tfrec",    ".record",     //
    ".tfrecord.gz", ".tfrecords.gz", ".tfrec.gz", ".record.gz",  //
    ".tfrecord.zz", ".tfrecords.zz", ".tfrec.zz", ".record.zz"};

// Other formats name their shards in the same way, but with an extension of their own.
bool is_shard(std::string_view name) {
  const std::optional<ShardName> shard = parse_shard_name(name);
  return shard &&
         (shard->extension.empty() || shard->extension == ".gz" || shard->extension == ".zz");
}

constexpr FileNames record_files{.what = "TFRecord file", .endings = endings, .is_shard = is_shard};

std::vector<fs::path> files_of(const fs::path& path) { return dataset_files(path, record_files); }

// The names of classes beside the records: slim's labels.txt of lines "0:airplane", or the label.labels.txt of TFDS, a name a
// line. Other tools have other files of that name: a file of another form is ignored.
ClassNames read_class_names(const fs::path& directory, const std::string& label) {
  ClassNames classes;
  std::error_code ignored;
  const fs::path numbered = directory / class_names_file,
                 listed = directory / (label + ".labels.txt");
  const bool has_numbers = fs::is_regular_file(numbered, ignored);
  if (!has_numbers && !fs::is_regular_file(listed, ignored)) return classes;
  const std::string content = read_text(has_numbers ? numbered : listed);
  std::string_view text = content;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (has_numbers) {
      const std::size_t colon = std::min(line.find(':'), line.size());
      if (parse_number<std::size_t>(line.substr(0, colon)) != classes.names.size()) return {};
      line.remove_prefix(std::min(colon + 1, line.size()));
    }
    classes.names.emplace_back(line);
  }
  return classes;
}

class TfrecordDataset final : public Dataset {
 public:
  explicit TfrecordDataset(const fs::path& from) {
    const auto [path, wishes] = split_wishes(from, example_wishes);
    info_.path = path;
    info_.files = files_of(path);
    info_.format = tfrecord_container.name();
    open_shards(info_.files);
    for (const TfrecordShard& shard : shards_) ends_.push_back(info_.size += shard.records());
    if (info_.size == 0) fail(path, "holds no records");
    find_keys(wishes);
    find_labels();
    Scratch scratch;
    complete_info(info_, *this, [&] { return example(place_of(0), scratch).image; });
    if (text_labels_) {
      info_.class_names = classes_.names();
      info_.classes = classes_.count();
    }
    if (!info_.class_names.names.empty()) return;
    ClassNames named = read_class_names(info_.files.front().parent_path(), keys_.label);
    if (named.names.empty()) return;  // a sidecar may count classes without names
    info_.class_names = std::move(named);
    info_.classes = static_cast<std::uint32_t>(info_.class_names.names.size());
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    return placed(index, place_of(index), [&](const Place& place) {
      const ImageExample one = example(place, scratch);
      Sample sample = to_sample(one, keys_);
      sample.label = label_of(one);
      sample.boxes = scratch.boxes;
      sample.labels = scratch.labels;
      return sample;
    });
  }

  std::int32_t label(std::uint64_t index, Scratch& scratch) const override {
    return placed(index, place_of(index),
                  [&](const Place& place) { return label_of(example(place, scratch)); });
  }

  bool look_ahead(std::uint64_t index) const override {
    const Place at = place_of(index);
    return at.shard->look_ahead(at.record);
  }

  void prefetch(std::span<const std::uint64_t> indices) const override {
    for (const std::uint64_t index : indices) {
      const Place at = place_of(index);
      at.shard->prefetch_place(at.record);
    }
    for (const std::uint64_t index : indices) {
      const Place at = place_of(index);
      at.shard->prefetch_record(at.record);
    }
  }

  SamplePlace place(std::uint64_t index) const override {
    const Place at = place_of(index);
    return {at.shard->path(), at.shard->start(at.record)};
  }

  void expect_unchanged() const override {
    for (const TfrecordShard& shard : shards_) shard.expect_unchanged();
  }

  void audit(const std::function<void(Finding)>& found) const override {
    for (const TfrecordShard& shard : shards_) shard.audit_index(found);
  }

 private:
  // Opens many at once, because each waits for the disk or is inflated.
  void open_shards(const std::vector<fs::path>& files) {
    MemoryBudget memory(max_inflated);
    shards_.resize(files.size());
    const std::size_t threads = std::min<std::size_t>(files.size(), max_openers);
    sweep(files.size(), static_cast<unsigned>(threads),
          [&](unsigned, std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) {
              shards_[i] = TfrecordShard(files[i], memory);
            }
          });
  }

  struct Place {
    const fs::path& file() const { return shard->path(); }
    std::string text() const { return join("record ", record, ", byte ", shard->start(record)); }
    const TfrecordShard* shard;
    std::uint64_t record;  // in the shard
  };

  Place place_of(std::uint64_t index) const {
    assert(index < size());
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto shard = static_cast<std::size_t>(end - ends_.begin());
    return {&shards_[shard], index - (shard == 0 ? 0 : ends_[shard - 1])};
  }

  ImageExample example(const Place& place, Scratch& scratch) const {
    return parse_image_example(place.shard->read(place.record, scratch.held), keys_, scratch);
  }

  std::int32_t label_of(const ImageExample& example) const {
    if (!text_labels_) return class_of(example, keys_, rule_);
    if (example.label && example.label_text.empty()) {
      throw Error(join("the label ", *example.label,
                       " is a number; expected text, as other records have it"));
    }
    return classes_.label(example.label_text);
  }

  // By the first record that has what is looked for, or the fault of the first.
  void find_keys(const Wishes& wishes) {
    constexpr std::uint64_t tries = 16;
    forget_failed_late_bytes();
    for (std::uint64_t i = 0; i < std::min(size(), tries); ++i) {
      try {
        Scratch scratch;
        const Place at = place_of(i);
        keys_ = choose_example_keys(at.shard->read(at.record, scratch.held), wishes);
        break;
      } catch (const Error&) {
        if (late_bytes_failed()) throw;
      }
    }
    if (keys_.image.empty()) {
      placed(0, place_of(0), [&](const Place& at) {
        Scratch scratch;
        keys_ = choose_example_keys(at.shard->read(at.record, scratch.held), wishes);
      });
    }
    if (keys_.of_objects()) {
      info_.notes.push_back(
          join("the label of an image is that of its first object ('", keys_.label, "')"));
    }
  }

  // From where labels count, or the classes that they name. Asks the sidecar, some records all over the set, or all.
  void find_labels() {
    const auto sidecar = read_sidecar(info_.path);
    if (sidecar && sidecar->format == info_.format && keys_.label == example_key::label) {
      rule_.first = counts_from_one(sidecar->class_names) ? 1 : 0;
      return;
    }
    const LabelEvidence evidence = look_at_labels();
    text_labels_ = evidence.has_texts();
    if (text_labels_) find_classes();
    if (text_labels_ || !evidence.has_ids()) return;
    const std::optional<LabelRule> found = evidence.rule();
    rule_ = found ? *found : LabelRule{.first = holds_label_zero() ? 0 : 1};
    if (rule_.first == 0) {
      info_.notes.push_back(
          join("labels beside WordNet ids count from 0: ",
               rule_.is_imagenet ? "they are places in ILSVRC2012's table" : "some are 0"));
    } else if (!rule_.is_imagenet) {
      info_.notes.emplace_back(
          "labels beside WordNet ids are taken to count from 1, as ImageNet's scripts write them: "
          "none is 0");
    }
  }

  // Calls `look` with every record that can be read, in threads.
  template <class Look>
  void look_at_all(const Look& look) const {
    sweep(size(), max_openers, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      Scratch scratch;
      forget_failed_late_bytes();
      for (std::uint64_t i = begin; i < end; ++i) {
        try_example(i, scratch, [&](const ImageExample& one) { look(worker, one); });
      }
    });
  }

  void find_classes() {
    std::vector<TextClasses> found(max_openers);
    try {
      look_at_all([&](unsigned worker, const ImageExample& one) {
        if (!one.label_text.empty()) found[worker].add(one.label_text);
      });
      for (const TextClasses& some : found) classes_.add(some);
    } catch (const PlacedError&) {
      throw;
    } catch (const Error& error) {
      fail(info_.path, error.what());
    }
    classes_.number();
    info_.notes.push_back(classes_.told());
  }

  // Calls `look` with a record; one that cannot be read is reported when it is a sample.
  template <class Look>
  void try_example(std::uint64_t index, Scratch& scratch, const Look& look) const {
    ImageExample one;
    try {
      one = example(place_of(index), scratch);
    } catch (const Error&) {
      if (late_bytes_failed()) throw;
      return;
    }
    look(one);
  }

  LabelEvidence look_at_labels() const {
    constexpr std::uint64_t most = 64, most_without_ids = 4;
    LabelEvidence evidence;
    Scratch scratch;
    const std::uint64_t count = std::min(size(), most);
    forget_failed_late_bytes();
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i == most_without_ids) {
        if (!evidence.tells()) break;
        for (std::uint64_t next = i; next < count; ++next) look_ahead(next * size() / count);
      }
      try_example(i * size() / count, scratch, [&](const ImageExample& one) { evidence.add(one); });
    }
    return evidence;
  }

  bool holds_label_zero() const {
    std::atomic<bool> found = false;
    look_at_all([&](unsigned, const ImageExample& one) {
      if (one.label == 0) found = true;
    });
    return found;
  }

  std::vector<TfrecordShard> shards_;
  ExampleKeys keys_;
  LabelRule rule_;
  bool text_labels_ = false;
  TextClasses classes_;              // where labels are text
  std::vector<std::uint64_t> ends_;  // one past the last sample of each shard
};

class TfrecordContainer final : public Container {
 public:
  TfrecordContainer()
      : Container("tfrecord", "TensorFlow: shards of tf.Examples, with DALI's .idx") {}

  bool knows(const fs::path& from) const override {
    const fs::path path = without_wishes(from);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return holds_files(path, record_files);
    if (is_brace_pattern(path))
      return knows_pattern(path, [&](const fs::path& one) { return knows(one); });
    if (!fs::is_regular_file(path, ignored)) return false;
    return record_files.is_own(path.filename().string()) || looks_like_tfrecords(path);
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<TfrecordDataset>(path);
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return make_tfrecord_writer(directory, options);
  }

  std::vector<fs::path> write_index(const fs::path& path) const override {
    std::vector<fs::path> written;
    MemoryBudget memory(max_inflated);
    for (const fs::path& file : files_of(without_wishes(path))) {
      TfrecordShard(file, memory).write_index();
      written.push_back(tfrecord_index_of(file));
    }
    return written;
  }
  bool shardable() const override { return true; }
  bool reads_ranges() const override { return true; }
  bool holds_boxes() const override { return true; }
  bool compressible() const override { return true; }
};

const TfrecordContainer tfrecord_row;

}  // namespace

const Container& tfrecord_container = tfrecord_row;

}  // namespace feedrate::formats
