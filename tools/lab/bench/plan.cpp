#include "tools/lab/bench/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/random.h"
#include "formats/codec.h"
#include "formats/remote/url.h"
#include "loader/loader.h"
#include "loader/recipe.h"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::size_t max_points = 100'000;

/// Each value once, in the order of first mention.
template <class T>
std::vector<T> distinct(const std::vector<T>& values) {
  std::vector<T> found;
  for (const T& value : values) {
    if (std::ranges::find(found, value) == found.end()) found.push_back(value);
  }
  return found;
}

/// The first that could decode; "cpu" where there is none.
std::string decoding_device(const BenchOptions& options) {
  const auto found =
      std::ranges::find_if(options.devices, [](const auto& name) { return name != "cpu"; });
  return found == options.devices.end() ? "cpu" : *found;
}

bool is_warm(const BenchPoint& point) { return point.row.cache == warm_cache; }

/// The settings that are not as usual, as options.
std::vector<std::string> server_words(RemoteSettings remote) {
  std::vector<std::string> words;
  RemoteSettings usual;
  const std::vector<BoundSetting> usually = bound_settings(usual);
  const std::vector<BoundSetting> given = bound_settings(remote);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].value == usually[i].value) continue;
    words.push_back(spelled(given[i].row, Spelling::shell));
    words.push_back(given[i].value);
  }
  return words;
}

/// Of the row's dataset, as a row keeps them: without secrets, as UTF-8.
std::optional<std::string> servers_of(const Row& row, RemoteSettings remote) {
  if (url_scheme(row.dataset).empty()) return {};
  if (remote.endpoint) remote.endpoint = without_secrets(*remote.endpoint);
  std::string text;
  for (const std::string& word : server_words(std::move(remote))) {
    text += (text.empty() ? "" : " ") + word;
  }
  if (text.empty()) return {};
  return as_utf8(text);
}

class Planner {
 public:
  Planner(const BenchOptions& options, unsigned cores, const std::function<bool(const Row&)>& reads)
      : options_(options), cores_(cores), reads_(reads), excluded_(options.exclude.size()) {}

  /// Plans the points of datasets that hold the same images.
  void plan(const std::vector<BenchDataset>& group) {
    for (const std::string& tool : distinct(options_.tools)) plan(group, tool);
    // A machine's speed drifts within minutes, so demand, on which predictions depend most, is
    // measured right before delivered.
    const auto first = static_cast<std::ptrdiff_t>(points_.size());
    std::uint64_t seed = options_.seed + points_.size();
    for (std::vector<BenchPoint>* part : {&supply_, &demand_, &delivered_}) {
      shuffle(*part, seed++);
      std::ranges::move(*part, std::back_inserter(points_));
      part->clear();
    }
    // Cold points drop the page cache, so warm points come first.
    std::stable_partition(points_.begin() + first, points_.end(), is_warm);
  }

  void plan(const std::vector<BenchDataset>& group, const std::string& tool) {
    for (const std::string& recipe : distinct(options_.recipes)) {
      for (const std::uint32_t batch : distinct(options_.batches)) {
        Row row;
        row.tool = tool;
        row.recipe = recipe;
        row.batch = batch;
        row.digest = group.front().digest;
        row.kind = supply_kind;
        add_loading(row, group, supply_);
        for (const std::string& network : distinct(fed_networks(options_))) {
          add_training(row, group, network);
          if (tool == own_tool) add_emulations(row, group, network);
        }
      }
    }
  }

  std::vector<BenchPoint> points() {
    for (const std::string& decode : options_.decodes) {
      if (!decoded_.contains(decode)) throw Error(nothing_to_decode(decode));
    }
    for (std::size_t i = 0; i < excluded_.size(); ++i) {
      if (excluded_[i]) continue;
      throw Error(join("the exclusion of ", options_.exclude[i].text(), " excludes nothing"));
    }
    if (points_.empty()) throw Error("the conditions leave nothing to measure");
    return std::move(points_);
  }

 private:
  bool left_out(const Row& row) {
    bool out = false;
    for (std::size_t i = 0; i < excluded_.size(); ++i) {
      if (!options_.exclude[i].fits(row)) continue;
      excluded_[i] = true;
      out = true;
    }
    return out || std::ranges::any_of(options_.only, [&](const Only& only) {
             return only.when.fits(row) && !only.then.allows(row);
           });
  }

  void add(const Row& row, std::vector<BenchPoint>& points) {
    if (points_.size() + supply_.size() + demand_.size() + delivered_.size() == max_points) {
      throw Error(join("these are more than ", grouped(max_points), " points"));
    }
    points.push_back({row, emulation_});
  }

  void add_loading(Row row, const std::vector<BenchDataset>& group,
                   std::vector<BenchPoint>& points) {
    for (const BenchDataset& dataset : group) {
      row.dataset = dataset.path.string();
      row.format = dataset.format;
      row.codec = dataset.codec;
      row.servers = servers_of(row, options_.remote);
      if (options_.shuffle_blocks != 0) row.shuffle_blocks = options_.shuffle_blocks;
      for (const std::string& decode : distinct(options_.decodes)) {
        row.decode = decode;
        if (!decodes(row)) continue;
        decoded_.insert(decode);
        add_threads(row, points);
      }
    }
  }

  void add_threads(Row row, std::vector<BenchPoint>& points) {
    for (const std::string& cache : distinct(options_.caches)) {
      row.cache = cache;
      for (const unsigned threads : distinct(options_.threads)) {
        row.threads = threads;
        if (!left_out(row)) add(row, points);
      }
    }
  }

  // Whether the row's images can be decoded in its way.
  bool decodes(const Row& row) const {
    if (row.decode == scaled_decode) {
      return row.codec == jpeg_codec.name() && loader::shrinks(loader::recipe(row.recipe));
    }
    if (row.decode != device_decode) return true;
    // The loader alone has no device, but needs one to decode.
    return row.tool == own_tool && row.codec == packed_codec.name() && !row.emulates &&
           row.device.value_or(decoding_device(options_)) != "cpu";
  }

  static std::string nothing_to_decode(std::string_view decode) {
    return join("decode ", decode, ": it is for ",
                decode == scaled_decode
                    ? "JPEGs and recipes that make images smaller"
                    : "packed JPEGs (convert --encode packed), measured by feedrate",
                ", and there are none");
  }

  void add_training(Row row, const std::vector<BenchDataset>& group, const std::string& network) {
    row.network = network;
    for (const std::string& device : trained_on(options_)) {
      row.device = device;
      // The same at every loader thread count, so that the curve shows only the loader.
      row.compute_threads.reset();
      if (device == "cpu") {
        row.compute_threads = options_.compute_threads > 0 ? options_.compute_threads : cores_;
      }
      for (const std::string& precision : distinct(options_.precisions)) {
        row.precision = precision;
        row.kind = delivered_kind;
        add_loading(row, group, delivered_);
        row.kind = demand_kind;
        add_trainer_alone(row, group);
        if (device == "cpu") continue;  // it copies no batches
        row.kind = compute_kind;
        add_trainer_alone(row, group);
      }
    }
  }

  void add_emulations(Row row, const std::vector<BenchDataset>& group, const std::string& network) {
    row.network = network;
    std::set<std::pair<std::string, std::string>> seen;
    for (const std::string& text : options_.emulated) {
      emulation_ = emulation_of(text, network, options_.rates, options_.host_cores);
      // "H100" and "h100x1" are one device, "1e3" and "1000" one rate.
      if (!seen.emplace(emulation_->device, emulation_->origin).second) continue;
      row.device = emulation_->device;
      row.precision.reset();
      if (!emulation_->precision.empty()) row.precision = emulation_->precision;
      row.emulates = emulation_->origin;
      row.emulated_rate = emulation_->images_per_second;
      row.kind = delivered_kind;
      add_loading(row, group, delivered_);
      row.kind = demand_kind;
      add_trainer_alone(row, group);
    }
    emulation_.reset();
  }

  // Batches in memory are the same whatever format they came from, so one dataset serves: the first
  // that the tool can read, of those not left out.
  void add_trainer_alone(Row row, const std::vector<BenchDataset>& group) {
    std::optional<Row> unread;
    for (const BenchDataset& dataset : group) {
      row.dataset = dataset.path.string();
      row.format = dataset.format;
      row.codec = dataset.codec;
      if (left_out(row)) continue;
      if (reads_(row)) return add(row, demand_);
      if (!unread) unread = row;
    }
    if (unread) add(*unread, demand_);
  }

  static void shuffle(std::vector<BenchPoint>& points, std::uint64_t seed) {
    for (std::size_t left = points.size(); left > 1; --left) {
      const auto pick = below(random_bits(seed, left), static_cast<std::uint32_t>(left));
      std::swap(points[left - 1], points[pick]);
    }
  }

  const BenchOptions& options_;
  unsigned cores_;
  const std::function<bool(const Row&)>& reads_;
  std::optional<Emulation> emulation_;  // of the points that are being added
  std::vector<bool> excluded_;          // whether the exclusion has excluded any point
  std::set<std::string> decoded_;       // the ways to decode that suit some point
  std::vector<BenchPoint> supply_;      // of the current group, as the next two
  std::vector<BenchPoint> demand_;      // and compute
  std::vector<BenchPoint> delivered_;
  std::vector<BenchPoint> points_;  // of all groups, in order
};

/// Datasets grouped by the images they hold, in the order of first mention.
std::vector<std::vector<BenchDataset>> groups(const std::vector<BenchDataset>& datasets) {
  std::vector<std::vector<BenchDataset>> found;
  for (const BenchDataset& dataset : datasets) {
    auto group = std::ranges::find_if(
        found, [&](const auto& one) { return one.front().digest == dataset.digest; });
    if (group == found.end()) group = found.insert(found.end(), std::vector<BenchDataset>{});
    const bool twice = std::ranges::any_of(
        *group, [&](const BenchDataset& one) { return one.path == dataset.path; });
    if (!twice) group->push_back(dataset);
  }
  return found;
}

}  // namespace

std::vector<std::string> trained_on(const BenchOptions& options) {
  if (!options.devices.empty()) return distinct(options.devices);
  return options.emulated.empty() ? std::vector<std::string>{"cpu"} : std::vector<std::string>();
}

std::string BenchPoint::title() const {
  std::string text = row.tool == own_tool ? row.kind : join(row.tool, ": ", row.kind);
  if (row.network) {
    text += fmt::format(" {} {} on {}", is_trainer_alone(row.kind) ? "of" : "to", *row.network,
                        row.device.value_or(""));
    if (row.precision) text += ", " + *row.precision;
  }
  if (!is_trainer_alone(row.kind)) {
    text += fmt::format("{} {} ({})", row.network ? ", from" : " of", format_and_codec(row),
                        row.dataset);
  }
  text += fmt::format(", batch {}", row.batch);
  if (row.recipe != "none") text += fmt::format(", {}", row.recipe);
  if (row.cache != warm_cache) text += fmt::format(", {}", row.cache);
  if (row.threads) text += fmt::format(", {}", counted(*row.threads, "thread"));
  return text;
}

std::vector<std::string> BenchPoint::command(const BenchOptions& options) const {
  std::vector<std::string> words;
  const auto add = [&](auto&&... more) { (words.emplace_back(more), ...); };
  const bool trains = row.kind != supply_kind && !emulation;
  add(trains ? "train" : "load", "--json");
  add("--recipe", row.recipe, "--batch", std::to_string(row.batch));
  add("--seconds", fmt::format("{}", options.seconds), "--seed", std::to_string(options.seed));
  if (row.threads) add("--threads", std::to_string(*row.threads));
  if (row.cache == cold_cache) add("--cold");
  if (row.shuffle_blocks) add("--shuffle-blocks", std::to_string(*row.shuffle_blocks));
  if (row.decode != full_decode) add("--decode", row.decode);
  if (emulation) {
    add("--emulate", fmt::format("{}", emulation->images_per_second));
    add("--host-cores", fmt::format("{}", emulation->host_cores));
    if (is_trainer_alone(row.kind)) add("--resident");
  }
  if (!trains) {
    add("--no-digest");
    if (row.decode == device_decode) add("--device", decoding_device(options));
  } else {
    add("--network", *row.network, "--device", *row.device, "--precision", *row.precision);
    add("--compute-threads", std::to_string(row.compute_threads.value_or(0)));
    if (is_trainer_alone(row.kind)) add("--resident");
    if (row.kind == compute_kind) add("--no-upload");
    // A rate does not depend on it, and what learns nothing cannot diverge: a published learning rate
    // is not for every batch and precision.
    add("--lr", "0");
  }
  for (std::string& word : server_words(options.remote)) words.push_back(std::move(word));
  add("--", row.dataset);  // a name may begin with a dash
  return words;
}

std::vector<BenchPoint> plan_bench(const BenchOptions& options,
                                   const std::vector<BenchDataset>& datasets, unsigned cores,
                                   const std::function<bool(const Row&)>& reads) {
  Planner planner(options, cores, reads);
  for (const auto& group : groups(datasets)) planner.plan(group);
  return planner.points();
}

bool same_place(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

bool same_point(const Row& a, const Row& b) {
  const bool same_work =
      a.kind == b.kind && a.tool == b.tool && a.recipe == b.recipe && a.network == b.network &&
      a.device == b.device && a.precision == b.precision && a.emulates == b.emulates &&
      a.batch == b.batch && a.compute_threads == b.compute_threads && a.digest == b.digest;
  // A trainer alone works on batches in memory: which dataset filled them does not matter.
  // as_utf8: rows read back from the file have replaced what was not UTF-8 in a name.
  const bool same_source =
      is_trainer_alone(a.kind) ||
      (a.format == b.format && a.codec == b.codec && a.decode == b.decode && a.cache == b.cache &&
       a.threads == b.threads && a.servers == b.servers && a.shuffle_blocks == b.shuffle_blocks &&
       (as_utf8(a.dataset) == as_utf8(b.dataset) || same_place(a.dataset, b.dataset)));
  return same_work && same_source;
}

}  // namespace feedrate::tools
