#include "tools/console/schema.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/console/console.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/commands/json_objects.h"

namespace feedrate::tools {

#define FEEDRATE_ROW(name) Description describe_##name();
#include "tools/program/commands/json_objects.inc"
#undef FEEDRATE_ROW

std::vector<Description> json_objects() {
  return {
#define FEEDRATE_ROW(name) describe_##name(),
#include "tools/program/commands/json_objects.inc"
#undef FEEDRATE_ROW
  };
}

namespace {

struct SchemaRequest {
  std::string name;
  bool markdown = false;
};

std::vector<std::string_view> object_names() {
  std::vector<std::string_view> names;
  for (const Description& object : json_objects()) names.push_back(object.heading.name);
  return names;
}

int run_schema(const SchemaRequest& options) {
  std::vector<Description> objects = json_objects();
  if (!options.name.empty()) {
    std::erase_if(objects,
                  [&](const Description& one) { return one.heading.name != options.name; });
  }
  print(options.markdown ? schema_markdown(objects) : schema_json(objects));
  return exit_done;
}

std::function<int()> prepare_schema(CLI::App& app) {
  auto options = std::make_shared<SchemaRequest>();
  add_argument(
      app, "OBJECT",
      {.name = "object",
       .sentence = "Object: load, train, rows, plan-files … (default: all)",
       .names = object_names,
       .check =
           [](std::string_view name) { formats::expect_known("object", name, object_names()); }},
      options->name);
  app.add_flag("--markdown", options->markdown, "Print tables for people instead of a JSON Schema");
  return [options] { return run_schema(*options); };
}

}  // namespace

extern const Command schema_command;
const Command schema_command{
    .name = "schema",
    .job = Job::shell,
    .summary = "Describe every key of the JSON output",
    .description =
        R"(Print a JSON Schema (2020-12) of what commands print with --json, of the lines of
results.jsonl and of the plans of 'feedrate bench'.)",
    .details = R"(--markdown: For each key its meaning, its unit, and when it is null or absent.)",
    .notes =
        R"(An OBJECT is named after its command; 'train-forward', 'passes' and 'report-compare' are what
train, time and report print in other modes.)",
    .examples = R"(  feedrate schema load --markdown
  feedrate schema > schema.json
)",
    .prepare = prepare_schema};

}  // namespace feedrate::tools
