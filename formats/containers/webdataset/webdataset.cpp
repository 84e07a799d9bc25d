// Tars of samples, as the webdataset library and DALI read them: each sample is a few files with
// one key, 00000012.cls (the label in decimal), 00000012.jpg, .png or .packed, 00000012.json.
// Several tars, the shards, make a dataset; samples come in their order.
//
// In tars of other tools, the label is the .cls, else the "label" of the .json; the name is the
// "filename" of the .json, else the image's own, unless that is only a number of eight digits.

#include <algorithm>
#include <cassert>
#include <fstream>
#include <type_traits>

#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/base/text.h"
#include "formats/container.h"
#include "formats/containers/braces.h"
#include "formats/containers/describe.h"
#include "formats/containers/placed.h"
#include "formats/containers/webdataset/tar_set.h"
#include "formats/containers/webdataset/tar_shard.h"
#include "formats/containers/webdataset/wds_index.h"
#include "formats/containers/webdataset/wds_json.h"
#include "formats/containers/webdataset/webdataset_writer.h"
#include "formats/io/tar_format.h"

namespace feedrate::formats {

extern const Container& webdataset_container;

namespace {

namespace fs = std::filesystem;

// Memory for all compressed shards of a dataset when they are unpacked.
constexpr std::uint64_t max_unpacked = std::uint64_t{4} << 30;
constexpr std::size_t max_openers = 16;  // threads, which mostly wait

std::int32_t class_number(std::optional<std::int64_t> label, std::string_view text) {
  constexpr std::size_t max_shown = 40;
  if (!label || *label < 0 || *label > std::numeric_limits<std::int32_t>::max()) {
    throw Error(join("the label '", text.substr(0, max_shown), "' is not a class number"));
  }
  return static_cast<std::int32_t>(*label);
}

// Turns "cls/jpg/" into ".cls .jpg", for people.
std::string listed(std::string_view extensions) {
  std::string list;
  for (const char letter : extensions.substr(0, extensions.size() - 1)) {
    list += letter == '/' ? std::string(" .") : std::string(1, letter);
  }
  return "." + list;
}

class WebdatasetDataset final : public Dataset {
 public:
  explicit WebdatasetDataset(const fs::path& path) {
    info_.files = find_tars(path);
    open_shards(info_.files);
    for (const TarShard& shard : shards_) {
      firsts_.push_back(info_.size);
      info_.size += shard.size();
    }
    info_.path = path;
    info_.format = webdataset_container.name();
    if (info_.size == 0) fail(path, "holds no samples: no file of a name with a key and extension");
    Scratch scratch;
    complete_info(info_, *this, [&] { return first_image(scratch); });
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    return with_files(index, scratch, [&](const TarShard& shard, const TarSample& files) {
      return sample_of(shard, files, scratch);
    });
  }

  std::int32_t label(std::uint64_t index, Scratch& scratch) const override {
    return with_files(index, scratch, [&](const TarShard& shard, const TarSample& files) {
      return facts_of(shard, files, scratch).label;
    });
  }

  Bytes details(std::uint64_t index, Scratch& scratch) const override {
    const Place place = place_of(index);
    TarSample files;
    place.shard.read(place.sample, files, scratch.held);
    return files.json ? place.shard.bytes(*files.json) : Bytes();
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
    TarSample files = {};  // once they are found
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
    return {shards_[shard], index - firsts_[shard]};
  }

  Bytes first_image(Scratch& scratch) const {
    const Place place = place_of(0);
    TarSample files;
    place.shard.read(place.sample, files, scratch.held);
    return files.image ? place.shard.bytes(*files.image) : Bytes();
  }

  static Sample sample_of(const TarShard& shard, const TarSample& files, Scratch& scratch) {
    if (!files.image) {
      throw Error(join("holds no image: its files are ", listed(files.extensions)));
    }
    Sample sample;
    const Facts facts = facts_of(shard, files, scratch);
    sample.label = facts.label;
    sample.extras_damaged = facts.json_damaged;
    sample.boxes_left_out = facts.boxes_left_out;
    sample.bytes = shard.bytes(*files.image);
    sample.codec = &codec_for(sample.bytes);
    sample.shape = sample.codec->shape(sample.bytes);
    if (scratch.name.empty() && !is_index_key(files.key)) scratch.name = files.image_name;
    sample.name = scratch.name;
    sample.boxes = scratch.boxes;
    sample.labels = scratch.labels;
    return sample;
  }

  struct Facts {
    std::int32_t label = 0;
    bool json_damaged = false;  // but was not needed
    std::uint32_t boxes_left_out = 0;
  };

  // The label, and in `scratch` what else the .json tells. Other tools' .json need not be one where a
  // .cls has the label.
  static Facts facts_of(const TarShard& shard, const TarSample& files, Scratch& scratch) {
    Facts facts;
    SampleJson json;
    const auto clear = [&] {
      scratch.name.clear();
      scratch.boxes.clear();
      scratch.labels.clear();
    };
    clear();
    try {
      if (files.json) json = read_sample_json(shard.bytes(*files.json), scratch);
    } catch (const Error&) {
      if (!files.label) throw;
      clear();
      facts.json_damaged = true;
    }
    facts.boxes_left_out = json.boxes_left_out;
    if (files.label) {
      const std::string_view text = trimmed(as_text(shard.bytes(*files.label)));
      facts.label = class_number(parse_number<std::int64_t>(text), text);
      return facts;
    }
    if (json.label) {
      facts.label = class_number(json.label, std::to_string(*json.label));
      return facts;
    }
    throw Error(join("holds no label: its files are ", listed(files.extensions),
                     "; expected a .cls with a number, or a .json with a \"label\""));
  }

  // Reports two samples whose keys have one hash, nearly always because they are equal.
  void report_twin(std::uint64_t first, std::uint64_t second,
                   const std::function<void(Finding)>& found) const {
    if (second >= info_.size) return;  // the index omits samples, which has been reported
    const auto key_of = [&](std::uint64_t index) {
      const Place place = place_of(index);
      TarSample files;
      Held held;
      place.shard.read(place.sample, files, held);
      return files.key;
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
  std::vector<std::uint64_t> firsts_;  // index of each shard's first sample
};

class WebdatasetContainer final : public Container {
 public:
  WebdatasetContainer()
      : Container("webdataset",
                  "WebDataset: tars of .jpg or .png, .cls, .json, with .idx for DALI") {}

  bool knows(const fs::path& path) const override {
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
    for (const fs::path& tar : find_tars(path)) {
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
