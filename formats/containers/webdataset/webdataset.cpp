// Tars of samples, as the webdataset library and DALI read them: each sample is a few files with
// one key, 00000012.cls (the label in decimal), 00000012.jpg, .png or .packed, 00000012.json.
// Several tars, the shards, make a dataset; samples come in their order.
//
// In tars of other tools, the label is the .cls, else the "label" of the .json, or what the path names; the name is the
// "filename" of the .json, else the image's own, unless that is only a number of eight digits.

#include <algorithm>
#include <cassert>
#include <fstream>
#include <set>
#include <type_traits>

#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/base/text.h"
#include "formats/container.h"
#include "formats/containers/braces.h"
#include "formats/containers/describe.h"
#include "formats/containers/placed.h"
#include "formats/containers/text_classes.h"
#include "formats/containers/webdataset/sample_facts.h"
#include "formats/containers/webdataset/tar_set.h"
#include "formats/containers/webdataset/tar_shard.h"
#include "formats/containers/webdataset/wds_index.h"
#include "formats/containers/webdataset/webdataset_writer.h"
#include "formats/io/tar_format.h"

namespace feedrate::formats {

extern const Container& webdataset_container;

namespace {

namespace fs = std::filesystem;

// Memory for all compressed shards of a dataset when they are unpacked.
constexpr std::uint64_t max_unpacked = std::uint64_t{4} << 30;
constexpr std::size_t max_openers = 16;  // threads, which mostly wait

class WebdatasetDataset final : public Dataset {
 public:
  explicit WebdatasetDataset(const fs::path& from) {
    const auto [path, wishes] = split_wishes(from, sample_wishes);
    info_.path = path;
    info_.files = find_tars(path);
    info_.format = webdataset_container.name();
    open_shards(info_.files);
    std::uint64_t clutter = 0;
    for (const TarShard& shard : shards_) {
      firsts_.push_back(info_.size);
      info_.size += shard.size();
      clutter += shard.clutter();
    }
    if (info_.size == 0) fail(path, "holds no samples: no file of a name with a key and extension");
    if (clutter != 0) {
      info_.notes.push_back(
          join("passed over ",
               counted_as(clutter, "file that an operating system", "files that operating systems"),
               clutter == 1 ? " leaves" : " leave", " behind, like .DS_Store and ._name"));
    }
    Scratch scratch;
    find_keys(wishes, scratch.held);
    if (text_labels_) find_classes();
    complete_info(info_, *this, [&] { return first_image(scratch); });
    if (!text_labels_) return;
    info_.class_names = classes_.names();
    info_.classes = classes_.count();
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    return with_files(index, scratch, [&](const TarShard& shard, const TarSample& files) {
      return sample_of(shard, files, scratch);
    });
  }

  std::int32_t label(std::uint64_t index, Scratch& scratch) const override {
    return with_files(index, scratch, [&](const TarShard& shard, const TarSample& files) {
      return label_of(read_sample_facts(shard, files, scratch), files);
    });
  }

  Bytes details(std::uint64_t index, Scratch& scratch) const override {
    Place at = place_of(index);
    at.shard.read(at.sample, at.files, scratch.held);
    return at.files.json ? at.shard.bytes(*at.files.json) : Bytes();
  }

  bool look_ahead(std::uint64_t index) const override {
    const Place at = place_of(index);
    return at.shard.look_ahead(at.sample);
  }

  void prefetch(std::span<const std::uint64_t> indices) const override {
    for (const std::uint64_t index : indices) {
      const Place at = place_of(index);
      at.shard.prefetch_place(at.sample);
    }
    for (const std::uint64_t index : indices) {
      const Place at = place_of(index);
      at.shard.prefetch_sample(at.sample);
    }
  }

  SamplePlace place(std::uint64_t index) const override {
    const Place at = place_of(index);
    return {at.shard.path(), at.shard.start(at.sample)};
  }

  void expect_unchanged() const override {
    for (const TarShard& shard : shards_) shard.expect_unchanged();
  }

  void audit(const std::function<void(Finding)>& found) const override {
    struct Key {
      std::size_t hash;
      std::uint64_t sample;
    };
    std::vector<Key> keys;  // hashes: the keys themselves would fill hundreds of megabytes
    const auto keep = [&](std::string_view key) {
      keys.push_back({std::hash<std::string_view>()(key), keys.size()});
    };
    for (const TarShard& shard : shards_) {
      try {
        shard.audit(found, keep);
      } catch (const Error& error) {
        found({shown_path(shard.path()), error.what()});
      }
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return std::pair(a.hash, a.sample) < std::pair(b.hash, b.sample);
    });
    for (std::size_t i = 1; i < keys.size(); ++i) {
      if (keys[i].hash == keys[i - 1].hash) {
        report_twin(keys[i - 1].sample, keys[i].sample, found);
      }
    }
  }

 private:
  struct Place {
    const fs::path& file() const { return shard.path(); }
    std::string text() const {
      return join(files.key.empty() ? std::string() : join("key ", files.key, ", "), "byte ",
                  shard.start(sample));
    }
    const TarShard& shard;
    std::uint64_t sample;  // in the shard
    TarSample files;       // once they are found
  };

  template <class Read>
  std::invoke_result_t<const Read&, const TarShard&, const TarSample&> with_files(
      std::uint64_t index, Scratch& scratch, const Read& read) const {
    Place found = place_of(index);
    return placed(index, found, [&](const Place&) {
      found.shard.read(found.sample, found.files, scratch.held);
      return read(found.shard, found.files);
    });
  }

  // Opens many at once, because each waits for the disk or is unpacked.
  void open_shards(const std::vector<fs::path>& tars) {
    MemoryBudget memory(max_unpacked);
    shards_.resize(tars.size());
    sweep(tars.size(), static_cast<unsigned>(std::min(tars.size(), max_openers)),
          [&](unsigned, std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) shards_[i] = TarShard(tars[i], memory);
          });
  }

  Place place_of(std::uint64_t index) const {
    assert(index < size());
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), index);
    const auto shard = static_cast<std::size_t>(after - firsts_.begin()) - 1;
    return {shards_[shard], index - firsts_[shard], TarSample{&keys_}};
  }

  Bytes first_image(Scratch& scratch) const {
    if (keys_.shape) return {};
    Place at = place_of(0);
    at.shard.read(at.sample, at.files, scratch.held);
    return at.files.image ? at.shard.bytes(*at.files.image) : Bytes();
  }

  // The first samples, in order, as far as they can be read. `look` returns true to end.
  template <class Look>
  void look_at_first(std::uint64_t most, const Look& look) const {
    forget_failed_late_bytes();
    for (std::uint64_t i = 0; i < std::min(size(), most); ++i) {
      Scratch scratch;
      Place at = place_of(i);
      try {
        at.shard.read(at.sample, at.files, scratch.held);
        if (look(at, scratch)) return;
      } catch (const Error&) {
        if (late_bytes_failed()) throw;
      }
    }
  }

  // Asks the first samples which members and keys hold images and labels, as far as the path does not say it, and whether
  // labels are text. Of a server's, the first will do; `first` holds it, because it is read again.
  void find_keys(const Wishes& wishes, Held& first) {
    constexpr std::uint64_t tries = 16;
    keys_.shape = wishes.shape;
    keys_.image = lower_case(wishes.image);
    if (!wishes.label.empty()) {
      // A member, where one has that extension, else a key of the .json.
      keys_.label = lower_case(wishes.label);
      keys_.json_label = wishes.label;
    }
    bool labelled = !wishes.label.empty();
    std::uint64_t labels = 0, texts = 0;
    look_at_first(tries, [&](const Place& at, Scratch& scratch) {
      if (keys_.image.empty() && !at.files.image) find_compound_image(at.files.extensions);
      TarFacts facts = read_sample_facts(at.shard, at.files, scratch);
      if (!labelled && !facts.labelled()) facts = find_label_key(at, scratch);
      labelled = labelled || facts.labelled();
      labels += facts.labelled() ? 1 : 0;
      texts += !facts.label && facts.labelled() ? 1 : 0;
      text_labels_ = 2 * texts > labels;  // a damaged number does not make names of all others
      const bool found = labelled && (at.files.image || !keys_.image.empty());
      if (found && at.shard.is_late()) first = std::move(scratch.held);
      return found && at.shard.is_late();
    });
  }

  // One picture of another name than .jpg, such as .input.jpg, must be it.
  void find_compound_image(std::string_view extensions) {
    std::set<std::string> stems;
    while (!extensions.empty()) {
      const std::string_view one = extensions.substr(0, extensions.find('/'));
      if (const auto stem = compound_image(one)) stems.emplace(*stem);
      extensions.remove_prefix(one.size() + 1);
    }
    if (stems.size() != 1) return;
    keys_.image = *stems.begin();
    info_.notes.push_back(
        join("images are the members .", keys_.image, ".jpg, or of another type of image"));
  }

  // Where neither the .cls nor the "label" is there: other usual names. Empty where these are not there either.
  TarFacts find_label_key(const Place& at, Scratch& scratch) {
    const SampleKeys before = keys_;
    for (const char* other : {"class", "cls", "target", "label_id", "class_id"}) {
      keys_.label = keys_.json_label = other;
      Place again{at.shard, at.sample, TarSample{&keys_}};
      again.shard.read(again.sample, again.files, scratch.held);
      TarFacts facts = read_sample_facts(again.shard, again.files, scratch);
      if (!facts.labelled()) continue;
      info_.notes.push_back(
          join("labels are the members .", other, ", or \"", other, "\" of the .json"));
      return facts;
    }
    keys_ = before;
    return {};
  }

  // Reads all labels, by many at once, because each waits for the disk.
  void find_classes() {
    std::vector<TextClasses> found(max_openers);
    sweep(size(), max_openers, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      Scratch scratch;
      forget_failed_late_bytes();
      for (std::uint64_t i = begin; i < end; ++i) {
        std::string text;
        try {
          text = with_files(i, scratch, [&](const TarShard& shard, const TarSample& files) {
            return read_sample_facts(shard, files, scratch).label_text;
          });
        } catch (const Error&) {  // reported when the sample is read
          if (late_bytes_failed()) throw;
        }
        if (!text.empty()) found[worker].add(text);
      }
    });
    for (const TextClasses& some : found) classes_.add(some);
    classes_.number();
    info_.notes.push_back(classes_.told());
  }

  std::int32_t label_of(const TarFacts& facts, const TarSample& files) const {
    return class_of(facts, files, text_labels_ ? &classes_ : nullptr);
  }

  Sample sample_of(const TarShard& shard, const TarSample& files, Scratch& scratch) const {
    if (!files.image) {
      throw Error(join("holds no image", keys_.image.empty() ? "" : join(" .", keys_.image),
                       ": its files are ", listed_extensions(files.extensions),
                       "; behind the path, ?image=NAME names another"));
    }
    Sample sample;
    const TarFacts facts = read_sample_facts(shard, files, scratch);
    sample.label = label_of(facts, files);
    sample.extras_damaged = facts.json_damaged;
    sample.boxes_left_out = facts.boxes_left_out;
    sample.bytes = shard.bytes(*files.image);
    if (keys_.shape) {
      sample.codec = &raw_codec;
      sample.shape = *keys_.shape;
      if (sample.bytes.size() != sample.shape.bytes()) {
        throw Error(join("'", files.image_name, "' has ", sample.bytes.size(),
                         " bytes, which are not ", sample.shape.height, "x", sample.shape.width,
                         "x", sample.shape.channels, " pixels"));
      }
    } else {
      sample.codec = &codec_for(sample.bytes);
      sample.shape = sample.codec->shape(sample.bytes);
    }
    if (scratch.name.empty() && !is_index_key(files.key)) scratch.name = files.image_name;
    sample.name = scratch.name;
    sample.boxes = scratch.boxes;
    sample.labels = scratch.labels;
    return sample;
  }

  // Reports two samples whose keys have one hash, nearly always because they are equal.
  void report_twin(std::uint64_t first, std::uint64_t second,
                   const std::function<void(Finding)>& found) const {
    if (second >= info_.size) return;  // the index omits samples, which has been reported
    const auto key_of = [&](std::uint64_t index) {
      Place at = place_of(index);
      Held held;
      at.shard.read(at.sample, at.files, held);
      return at.files.key;
    };
    const Place place = place_of(second);
    try {
      const std::string key = key_of(second);
      if (key_of(first) != key) return;
      found({join(place.shard.path(), ": sample ", second),
             join("has the key ", key, " of sample ", first, " in ",
                  place_of(first).shard.path().filename())});
    } catch (const Error&) {
      // Reading this sample reports what is wrong with it.
    }
  }

  std::vector<TarShard> shards_;
  SampleKeys keys_;
  bool text_labels_ = false;
  TextClasses classes_;                // where labels are text
  std::vector<std::uint64_t> firsts_;  // index of each shard's first sample
};

class WebdatasetContainer final : public Container {
 public:
  WebdatasetContainer()
      : Container("webdataset",
                  "WebDataset: tars of .jpg or .png, .cls, .json, with .idx for DALI") {}

  bool knows(const fs::path& from) const override {
    const fs::path path = without_wishes(from);
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return holds_tars(path);
    if (is_brace_pattern(path))
      return knows_pattern(path, [&](const fs::path& one) { return knows(one); });
    return fs::is_regular_file(path, ignored) && is_tar_name(path.filename().string());
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<WebdatasetDataset>(path);
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return make_webdataset_writer(directory, options);
  }

  std::vector<fs::path> write_index(const fs::path& path) const override {
    std::vector<fs::path> written;
    for (const fs::path& tar : find_tars(without_wishes(path))) {
      write_wds_index(tar);
      written.push_back(wds_index_path(tar));
    }
    return written;
  }
  bool shardable() const override { return true; }
  bool reads_ranges() const override { return true; }
  bool holds_label_lists() const override { return true; }
  bool holds_boxes() const override { return true; }
};

const WebdatasetContainer webdataset_row;

}  // namespace

const Container& webdataset_container = webdataset_row;

}  // namespace feedrate::formats
