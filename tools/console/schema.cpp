#include "tools/console/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/console/json_fields.hpp"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;
using Kind = ValueType::Kind;

constexpr const char* sha256_pattern = "^([0-9a-f]{64})?$";

/// The object itself where it stands, not a section of its own.
const Description* inline_object(const ValueType& type) {
  if (type.of) return inline_object(*type.of);
  return type.object && type.object->heading.name.empty() ? type.object.get() : nullptr;
}

/// Adds what is described under a name, each once: an object, then those in it.
void collect(const Description& object, std::vector<const Description*>& found) {
  const std::string_view name = object.heading.name;
  const auto has_name = [&](const Description* one) { return one->heading.name == name; };
  if (!name.empty() && std::ranges::any_of(found, has_name)) return;
  if (!name.empty()) found.push_back(&object);
  for (const Key& key : object.keys) {
    const ValueType* type = &key.type;
    while (type->of) type = type->of.get();
    if (type->object) collect(*type->object, found);
  }
}

std::vector<const Description*> with_inner(std::span<const Description> objects) {
  std::vector<const Description*> found;
  for (const Description& object : objects) collect(object, found);
  return found;
}

std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  }
  return text;
}

/// "not measured; absent: no `--against`"
std::string without_value(const About& about, std::string_view null) {
  const auto labelled = [](std::string_view label, std::string_view when) {
    return when.empty() ? std::string() : fmt::format("{}{}", label, when);
  };
  return joined({labelled(null, about.null), labelled("absent: ", about.absent)});
}

ordered_json object_schema(const Description& object);

ordered_json text_schema(const Setting* row) {
  ordered_json schema{{"type", "string"}};
  if (row != nullptr && !row->words.empty()) schema["enum"] = row->words;
  return schema;
}

ordered_json whole_schema(const Setting* row) {
  ordered_json schema{{"type", "integer"}};
  if (row == nullptr) return schema;
  schema["minimum"] = row->min;
  if (row->max != Setting::unlimited) schema["maximum"] = row->max;
  return schema;
}

ordered_json number_schema(const Setting* row) {
  ordered_json schema{{"type", "number"}};
  if (row == nullptr) return schema;
  const RealRange& range = row->range;
  const auto limit = [&](const char* within, const char* beyond, bool without, double value) {
    if (std::isfinite(value)) schema[without ? beyond : within] = value;
  };
  limit("minimum", "exclusiveMinimum", range.above_low, range.low);
  limit("maximum", "exclusiveMaximum", range.below_high, range.high);
  return schema;
}

/// `row` limits the value, or each in a list, unless it is nullptr.
ordered_json value_schema(const ValueType& type, const Setting* row) {
  switch (type.kind) {
    case Kind::text:
      return text_schema(row);
    case Kind::whole:
      return whole_schema(row);
    case Kind::number:
      return number_schema(row);
    case Kind::flag:
      return {{"type", "boolean"}};
    case Kind::list:
      return {{"type", "array"}, {"items", value_schema(*type.of, row)}};
    case Kind::map:
      return {{"type", "object"}, {"additionalProperties", value_schema(*type.of, row)}};
    case Kind::one_or_more: {
      const ordered_json one = value_schema(*type.of, row);
      return {{"anyOf", {one, {{"type", "array"}, {"items", one}, {"minItems", 1}}}}};
    }
    case Kind::object:
      break;
  }
  const std::string_view name = type.object->heading.name;
  if (name.empty()) return object_schema(*type.object);
  return {{"$ref", fmt::format("#/$defs/{}", name)}};
}

ordered_json key_schema(const Key& key) {
  const About& about = key.about;
  ordered_json schema = value_schema(key.type, about.row);
  if (about.unit == sha256_unit) schema["pattern"] = sha256_pattern;
  if (!about.null.empty()) {
    if (schema.contains("type")) {
      schema["type"] = {schema["type"], "null"};
    } else {
      schema = {{"anyOf", {schema, {{"type", "null"}}}}};
    }
  }
  const std::string unit(about.unit == sha256_unit ? "" : about.unit);
  schema["description"] =
      joined({unit, std::string(about.meaning), without_value(about, "null: ")});
  return schema;
}

ordered_json object_schema(const Description& object) {
  ordered_json properties = ordered_json::object(), required = ordered_json::array();
  for (const Key& key : object.keys) {
    properties[std::string(key.name)] = key_schema(key);
    if (key.about.absent.empty()) required.push_back(key.name);
  }
  ordered_json schema{{"type", "object"}};
  if (!object.heading.about.empty()) schema["description"] = object.heading.about;
  schema.update({{"properties", properties}, {"required", required}});
  schema["additionalProperties"] = false;
  return schema;
}

std::string type_text(const ValueType& type) {
  switch (type.kind) {
    case Kind::text:
      return "text";
    case Kind::whole:
      return "whole number";
    case Kind::number:
      return "number";
    case Kind::flag:
      return "true or false";
    case Kind::one_or_more:
      return fmt::format("{}, or a list", type_text(*type.of));
    case Kind::list:
    case Kind::map: {
      const std::string one = type_text(*type.of);
      const char* what = type.kind == Kind::list ? "list" : "object";
      return one == "object" ? what : fmt::format("{} of {}", what, one);
    }
    case Kind::object:
      break;
  }
  const std::string_view name = type.object->heading.name;
  return name.empty() ? "object" : fmt::format("[{0}](#{0})", name);
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

/// The rows of the keys and of those of objects that stand in them: `a.b`, `a[].b`.
std::string rows(const Description& object, const std::string& before) {
  std::string text;
  for (const Key& key : object.keys) {
    const About& about = key.about;
    const std::string path = fmt::format("{}{}", before, key.name);
    text += fmt::format("| `{}` | {}{}{} | {} | {} |\n", path, type_text(key.type),
                        about.unit.empty() ? "" : ", ", about.unit, cell(about.meaning),
                        cell(without_value(about, "")));
    if (const Description* const inside = inline_object(key.type)) {
      text += rows(*inside, path + (key.type.kind == Kind::object ? "." : "[]."));
    }
  }
  return text;
}

}  // namespace

std::string schema_json(std::span<const Description> objects) {
  ordered_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "feedrate"},
                      {"description",
                       "What feedrate prints with --json, the rows of results.jsonl (rows) and the "
                       "plans of 'feedrate bench' (plan-files): one definition for each."}};
  if (objects.size() == 1) schema["$ref"] = fmt::format("#/$defs/{}", objects[0].heading.name);
  ordered_json& definitions = schema["$defs"] = ordered_json::object();
  for (const Description* one : with_inner(objects)) {
    definitions[std::string(one->heading.name)] = object_schema(*one);
  }
  return json_text(schema);
}

std::string schema_markdown(std::span<const Description> objects) {
  std::string text;
  for (const Description* one : with_inner(objects)) {
    text += fmt::format(
        "{}## {}\n\n{}\n\n| key | value | meaning | null, or absent |\n|---|---|---|---|\n{}",
        text.empty() ? "" : "\n", one->heading.name, one->heading.about, rows(*one, ""));
  }
  return text;
}

}  // namespace feedrate::tools
