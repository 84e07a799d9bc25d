#include "tools/lab/bench/plan_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "formats/base/error.h"
#include "formats/base/kind.h"
#include "formats/io/file.h"
#include "tools/console/fields.h"
#include "tools/console/json_file.hpp"
#include "tools/console/text.h"
#include "tools/lab/bench/settings.h"
#include "tools/lab/measure/row_fields.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::json;

constexpr std::size_t max_plan_size = std::size_t{1} << 20;  // bytes

/// The row of a value of a condition.
Setting row_of_condition(const ConditionKey& of) {
  const std::string_view key = of.name;
  if (key == "kind") return typed({.name = "kind", .words = row_kinds}, std::string());
  // Any number, or any name: a dataset, a format …
  Setting found =
      of.is_number ? typed({.name = key}, std::uint64_t{}) : typed({.name = key}, std::string());
  BenchOptions options;
  for_each_list(options, [&](std::string_view, const Setting& row, auto& list) {
    if (row.name == key) found = bound_list(row, list).row;
  });
  return found;
}

std::string in_quotes(std::string_view text) { return join("\"", text, "\""); }

std::string shown(const json& value) {
  constexpr std::size_t max_length = 60;
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= max_length ? text : join(text.substr(0, max_length), "…");
}

class PlanReader {
 public:
  explicit PlanReader(const std::filesystem::path& path) : path_(path), text_(read_text(path)) {
    if (text_.size() > max_plan_size) refuse("", "is too long to be a plan");
  }

  BenchOptions read() {
    const json plan = parse_json(path_, text_);
    if (!plan.is_object()) refuse("", "a plan is an object {…}");
    for (const auto& [key, value] : plan.items()) {
      take(key, value);
    }
    if (options_.paths.empty()) refuse("", "names no datasets");
    return std::move(options_);
  }

 private:
  void take(const std::string& key, const json& value) {
    std::vector<std::string_view> there{"datasets", "exclude", "only"};
    bool taken = std::ranges::find(there, key) != there.end();
    if (key == "datasets") {
      for (const std::string& path :
           texts(key, {.name = "datasets", .kind = SettingKind::path}, value)) {
        options_.paths.emplace_back(path);
      }
    }
    if (key == "exclude") {
      for (const json& one : objects(key, value)) options_.exclude.push_back(condition(one));
    }
    if (key == "only") {
      for (const json& one : objects(key, value)) options_.only.push_back(only(one));
    }
    for_each_list(options_, [&](std::string_view known, const Setting& row, auto& list) {
      there.push_back(known);
      if (known != key) return;
      const BoundList bound = bound_list(row, list);
      bound.read(texts(key, bound.row, value));
      taken = true;
    });
    for (const BoundSetting& one : bound_settings(options_)) {
      there.push_back(one.row.name);
      if (one.row.name != key) continue;
      one.read(text(key, one.row, value));
      taken = true;
    }
    if (!taken) refuse(in_quotes(key), unknown_kind("key", key, there));
  }

  /// Throws Error, with the line of `token` when the text holds it exactly once.
  template <class... Parts>
  [[noreturn]] void refuse(std::string_view token, const Parts&... parts) const {
    const std::size_t at = token.empty() ? std::string::npos : text_.find(token);
    if (at == std::string::npos || text_.find(token, at + 1) != std::string::npos) {
      fail(path_, parts...);
    }
    fail(path_, "line ", 1 + std::count(text_.begin(), text_.begin() + static_cast<long>(at), '\n'),
         ": ", parts...);
  }

  /// The text of a value that the row takes.
  std::string text(const std::string& key, const Setting& row, const json& value) const {
    const bool number = row.kind == SettingKind::whole || row.kind == SettingKind::real;
    if (!(number ? value.is_number() : value.is_string())) {
      refuse(in_quotes(key), key, ": expected ", expected(row), number ? "" : " in quotes",
             ", found ", shown(value));
    }
    const std::string text = number ? value.dump() : value.get<std::string>();
    try {
      expect_text(row, text);
    } catch (const Error& problem) {
      const bool can_be_found = !number && !text.empty() && text.find('\0') == std::string::npos;
      refuse(in_quotes(can_be_found ? text : key), key, ": ",
             can_be_found ? problem.what() : refusal(row, shown(value)));
    }
    return text;
  }

  /// A single value counts as a list of one.
  std::vector<json> list(const std::string& key, const json& value) const {
    if (!value.is_array()) return {value};
    if (value.empty()) refuse(in_quotes(key), key, ": an empty list leaves nothing to measure");
    return value;
  }

  std::vector<std::string> texts(const std::string& key, const Setting& row,
                                 const json& value) const {
    std::vector<std::string> found;
    for (const json& one : list(key, value)) found.push_back(text(key, row, one));
    return found;
  }

  std::vector<json> objects(const std::string& key, const json& value) const {
    const std::vector<json> found = list(key, value);
    for (const json& one : found) {
      if (!one.is_object() || one.empty()) {
        refuse(in_quotes(key), key, ": expected an object that names a key, found ", shown(one));
      }
    }
    return found;
  }

  /// A condition may name what this plan emulates as its rows do, "emulated h100" and "mixed", beside what trains
  /// here. Relies on "emulated" being read before "exclude" and "only": by name.
  Setting row_in_plan(const ConditionKey& key, const json& value) const {
    const auto is_emulated = [](const json& one) {
      return one.is_string() && one.get<std::string>().starts_with("emulated ");
    };
    const std::vector<json> all = list(std::string(key.name), value);
    const bool is_free =
        key.name == "precision" || (key.name == "device" && std::ranges::any_of(all, is_emulated));
    if (options_.emulated.empty() || !is_free) return row_of_condition(key);
    return typed({.name = key.name}, std::string());
  }

  Condition condition(const json& object) const {
    Condition found;
    for (const auto& [key, value] : object.items()) {
      const auto known = std::ranges::find(condition_keys(), key, &ConditionKey::name);
      if (known == condition_keys().end()) {
        std::vector<std::string_view> known_names;
        for (const ConditionKey& one : condition_keys()) known_names.push_back(one.name);
        refuse(in_quotes(key), unknown_kind("key of a condition", key, known_names));
      }
      found.terms.push_back({key, texts(key, row_in_plan(*known, value), value)});
    }
    return found;
  }

  Only only(const json& object) const {
    Only found;
    for (const auto& [key, value] : object.items()) {
      constexpr std::string_view known[] = {"when", "then"};
      if (std::ranges::find(known, key) == std::end(known)) {
        refuse(in_quotes(key), unknown_kind("key of \"only\"", key, known));
      }
      (key == "when" ? found.when : found.then) = condition(objects(key, value).front());
    }
    if (found.then.terms.empty()) refuse("\"only\"", "only: lacks a \"then\"");
    return found;
  }

  std::filesystem::path path_;
  std::string text_;
  BenchOptions options_;
};

}  // namespace

template <>
inline constexpr Heading heading_of<Condition>{
    "condition",
    "Points of a plan. A point matches if every key given has that value, or one of the values of "
    "a list. A trainer alone has no `threads`, `decode` and `cache`, and a loader alone no "
    "`network`, `device` and `precision`. Emulated devices are called as in rows: `emulated "
    "h100`."};

/// Made once, since a description points to them.
const Setting& condition_row(std::string_view key) {
  static const std::map<std::string_view, Setting> all = [] {
    std::map<std::string_view, Setting> found;
    for (const ConditionKey& one : condition_keys()) found.emplace(one.name, row_of_condition(one));
    return found;
  }();
  return all.at(key);
}

template <class Field>
void for_each_field(const Condition&, const Field& field) {
  const Row row;
  for_each_point_field(row, [&](const char* key, const auto& value, const About& about) {
    field(key, OneOrMore<std::decay_t<decltype(value)>>{},
          {about.meaning, Absent{"any"}, Limits{condition_row(key)}});
  });
}

template <class Field>
void for_each_field(const Only& only, const Field& field) {
  field("when", only.when, {"the points to which the rule applies", Absent{"all"}});
  field(
      "then", only.then,
      {"of those, only points that match this stay; keys that a point does not have are ignored"});
}

template <>
inline constexpr Heading heading_of<BenchOptions>{
    "plan-files",
    "What `feedrate bench --plan` reads. A list has every value to measure; a single value counts "
    "as a list of one. Every combination is measured except those that the conditions exclude. "
    "Unknown keys, repeated keys and values out of range are refused."};

/// What the tables of settings say of a key of plans.
struct KeyTexts {
  std::string meaning;    // the sentence, and what a value has to be
  std::string otherwise;  // what holds without the key
  Setting row;
};
KeyTexts texts_of(const Setting& row, std::string_view otherwise) {
  return {.meaning = join(row.sentence, row.sentence.ends_with(')') ? " " : ": ", expected(row)),
          .otherwise = otherwise.empty() ? "nothing" : join("`", otherwise, "`"),
          .row = row};
}

/// Made once, since a description holds views.
const std::map<std::string_view, KeyTexts>& key_texts() {
  static const std::map<std::string_view, KeyTexts> all = [] {
    std::map<std::string_view, KeyTexts> found;
    BenchOptions options;
    for_each_list(options, [&](std::string_view key, const Setting& row, auto& list) {
      const BoundList bound = bound_list(row, list);
      found.emplace(key, texts_of(bound.row, fmt::format("{}", fmt::join(bound.values, ", "))));
    });
    for (const BoundSetting& one : bound_settings(options)) {
      found.emplace(one.row.name, texts_of(one.row, one.value));
    }
    return found;
  }();
  return all;
}

template <class Field>
void for_each_field(const BenchOptions& options, const Field& field) {
  const auto add = [&](std::string_view key, const auto& value) {
    const auto& [name, texts] = *key_texts().find(key);
    field(name.data(), value, {texts.meaning, Absent{texts.otherwise}, Limits{texts.row}});
  };
  field("datasets", OneOrMore<std::string>{}, {"paths; they may hold different images"});
  for_each_list(options,
                [&]<class Value>(std::string_view key, const Setting&, const std::vector<Value>&) {
                  if constexpr (std::is_integral_v<Value>) {
                    add(key, OneOrMore<Value>{});
                  } else {
                    add(key, OneOrMore<std::string>{});
                  }
                });
  for_each_setting(options, [&](const Setting& row, const auto& member) { add(row.name, member); });
  field("exclude", options.exclude,
        {"points that match one are left out; a condition that matches nothing is refused",
         Absent{"nothing"}});
  field("only", options.only, {"rules for the points that stay", Absent{"nothing"}});
}

Description describe_plan_files() { return description_of(BenchOptions{}); }

BenchOptions read_plan(const std::filesystem::path& path) { return PlanReader(path).read(); }

}  // namespace feedrate::tools
