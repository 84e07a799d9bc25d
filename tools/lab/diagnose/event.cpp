#include "tools/lab/diagnose/event.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace feedrate::tools {

namespace {

using nlohmann::json;

/// Members of an object, or nothing where they are not of the type that is asked for.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}

  std::string text(const char* key) const {
    const json* value = find(key);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
  }
  bool flag(const char* key) const {
    const json* value = find(key);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  std::optional<std::uint64_t> whole(const char* key) const {
    const json* value = find(key);
    if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
    return value->get<std::uint64_t>();
  }
  std::optional<double> seconds(const char* key) const {
    const json* value = find(key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->get<double>() * 1e-9;
  }
  double time(const char* key) const { return seconds(key).value_or(0); }
  template <std::size_t n>
  std::optional<std::array<std::uint64_t, n>> wholes(const char* key) const {
    const json* value = find(key);
    if (value == nullptr || !value->is_array() || value->size() != n) return std::nullopt;
    std::array<std::uint64_t, n> all{};
    for (std::size_t i = 0; i < n; ++i) {
      if (!(*value)[i].is_number_unsigned()) return std::nullopt;
      all[i] = (*value)[i].template get<std::uint64_t>();
    }
    return all;
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    const json* value = find(key);
    if (value == nullptr || !value->is_array()) return all;
    for (const json& one : *value) {
      if (one.is_string()) all.push_back(one.get<std::string>());
    }
    return all;
  }
  double number(const char* key) const {
    const json* value = find(key);
    return value != nullptr && value->is_number() ? value->get<double>() : 0;
  }
  /// An array of numbers; empty where one of it is none.
  std::vector<double> numbers(const char* key) const { return numbers_in(find(key)); }
  std::vector<std::vector<double>> rows(const char* key) const {
    std::vector<std::vector<double>> all;
    const json* value = find(key);
    if (value == nullptr || !value->is_array()) return all;
    for (const json& row : *value) all.push_back(numbers_in(&row));
    return all;
  }
  std::map<std::string, Span> spans() const {
    std::map<std::string, Span> all;
    const json* object = find("spans");
    if (object == nullptr || !object->is_object()) return all;
    for (const auto& [name, value] : object->items()) {
      if (!value.is_array() || value.size() != 3 || !value[0].is_number() ||
          !value[1].is_number() || !value[2].is_number_unsigned()) {
        continue;
      }
      all[name] = {value[0].get<double>() * 1e-9, value[1].get<double>() * 1e-9,
                   value[2].get<std::uint64_t>()};
    }
    return all;
  }

 private:
  static std::vector<double> numbers_in(const json* value) {
    std::vector<double> all;
    if (value == nullptr || !value->is_array()) return all;
    for (const json& one : *value) {
      if (!one.is_number()) return {};
      all.push_back(one.get<double>());
    }
    return all;
  }
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  const json& object_;
};

LoaderMade loader_of(const Members& of) {
  return {.where = of.text("where"),
          .dataset = of.text("dataset"),
          .start = of.text("start"),
          .collate = of.text("collate"),
          .length = of.whole("length"),
          .batch = of.whole("batch"),
          .prefetch = of.whole("prefetch"),
          .samples = of.number("samples"),
          .workers = of.whole("workers").value_or(0),
          .persistent = of.flag("persistent"),
          .pin = of.flag("pin"),
          .own_collate = of.flag("own_collate"),
          .iterable = of.flag("iterable"),
          .wrapped = of.flag("wrapped"),
          .when = of.time("made")};
}

std::uint64_t count(double number) {
  return number > 0 && number < 1e18 ? static_cast<std::uint64_t>(number) : 0;
}

IteratorMade iterator_of(const Members& of) {
  IteratorMade made{.parent = of.whole("pid").value_or(0), .sweep = of.whole("sweep")};
  for (const double worker : of.numbers("workers")) made.workers.push_back(count(worker));
  return made;
}

/// A batch whose parts were timed.
BatchMade batch_of(const Members& of) {
  return {.begin = of.time("begin"),
          .end = of.time("end"),
          .samples = of.whole("samples").value_or(0),
          .cpu = of.time("cpu"),
          .put_cpu = of.time("put_cpu"),
          .puts = of.whole("puts").value_or(0),
          .delay = of.seconds("delay"),
          .read = of.wholes<2>("read"),
          .leaves = of.wholes<3>("leaves"),
          .spans = of.spans(),
          .first = of.flag("first")};
}

// The rows of numbers of short steps and batches. What is below 0 is not known.

double seconds(double nanoseconds) { return nanoseconds * 1e-9; }
std::optional<double> known_seconds(double nanoseconds) {
  return nanoseconds < 0 ? std::nullopt : std::optional(seconds(nanoseconds));
}

/// `make` of each full row, and of each pair of a begin and an end.
template <class One, class Make>
std::vector<One> rows_of(const Members& of, std::size_t least, const Make& make) {
  std::vector<One> all;
  for (const std::vector<double>& row : of.rows("full")) {
    if (row.size() >= least) all.push_back(make(row));
  }
  const std::vector<double> light = of.numbers("light");
  for (std::size_t i = 0; i + 1 < light.size(); i += 2) {
    One one;
    one.begin = seconds(light[i]);
    one.end = seconds(light[i + 1]);
    one.full = false;
    all.push_back(one);
  }
  std::ranges::sort(all, {}, &One::begin);
  return all;
}

std::vector<StepBegun> steps_of(const Members& of) {
  return rows_of<StepBegun>(of, 7, [](const std::vector<double>& row) {
    return StepBegun{.begin = seconds(row[0]),
                     .end = seconds(row[1]),
                     .cpu = seconds(row[4]),
                     .process = seconds(row[5]),
                     .pin = seconds(row[6]),
                     .delay = known_seconds(row[2]),
                     .samples = row[3] < 0 ? std::nullopt : std::optional(count(row[3]))};
  });
}

std::vector<BatchMade> batches_of(const Members& of) {
  return rows_of<BatchMade>(of, 7, [](const std::vector<double>& row) {
    BatchMade made{.begin = seconds(row[0]),
                   .end = seconds(row[1]),
                   .samples = count(row[3]),
                   .cpu = seconds(row[4]),
                   .put_cpu = seconds(row[6]),
                   .puts = count(row[5]),
                   .delay = known_seconds(row[2])};
    if (row.size() >= 10) made.leaves = {count(row[7]), count(row[8]), count(row[9])};
    return made;
  });
}

}  // namespace

ProbeEvent read_event(std::string_view line) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return {};
  const Members of(object);
  // A child that measures speaks for the process that it was forked from.
  const std::uint64_t process = of.whole("owner").value_or(of.whole("pid").value_or(0));
  ProbeEvent event{process, of.whole("loader").value_or(0), {}};
  const std::string kind = of.text("event");
  if (kind == "python") event.what = PythonStarted{of.text("version"), of.text("program")};
  if (kind == "hello") {
    const auto rank = of.whole("rank");
    event.what =
        ProcessSeen{rank ? std::optional(static_cast<std::uint32_t>(*rank)) : std::nullopt};
  }
  if (kind == "torch") event.what = TorchSeen{of.text("version")};
  if (kind == "loader") event.what = loader_of(of);
  if (kind == "epoch")
    event.what = EpochBegun{of.time("begin"), of.time("end"), of.whole("thread").value_or(0)};
  if (kind == "end") event.what = EpochEnded{of.time("begin")};
  if (kind == "iterator") event.what = iterator_of(of);
  if (kind == "worker") {
    event.what = WorkerStarted{of.whole("parent").value_or(0), of.time("begin"), of.time("torch")};
  }
  if (kind == "steps") event.what = steps_of(of);
  if (kind == "batch" || kind == "batches") {
    event.what = BatchesMade{of.whole("parent").value_or(0),
                             kind == "batch" ? std::vector{batch_of(of)} : batches_of(of)};
  }
  if (kind == "sweep") {
    event.what = Swept{of.whole("workers").value_or(0), of.whole("batches").value_or(0),
                       of.time("time"), of.time("cpu"), of.time("start")};
  }
  if (kind == "refused") event.what = SweepRefused{of.text("why")};
  if (kind == "pause") event.what = Paused{of.time("begin"), of.time("end")};
  if (kind == "swapped") {
    event.what = Swapped{.name = of.text("name"),
                         .method = of.text("method"),
                         .here = of.flag("here"),
                         .shared = of.flag("shared"),
                         .data = of.text("data"),
                         .threads = of.whole("threads").value_or(0),
                         .notes = of.texts("notes")};
  }
  if (kind == "left") event.what = SwapLeft{of.text("why")};
  if (kind == "difference") {
    event.what = PixelsDiffer{of.number("largest"), of.number("mean"),
                              of.whole("samples").value_or(0), of.texts("left_out")};
  }
  if (kind == "before" || kind == "after") {
    event.what = Supplied{kind == "after", of.whole("batches").value_or(0), of.time("time")};
  }
  if (kind == "unmeasured") event.what = SwapUnmeasured{of.text("why")};
  if (kind == "stood_in") event.what = StoodIn{of.whole("count").value_or(0), of.text("why")};
  if (kind == "trouble") event.what = Trouble{of.text("what")};
  return event;
}

}  // namespace feedrate::tools
