#include "formats/remote/cache.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "tools/console/console.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/program/cli/command.h"
#include "tools/program/cli/help.h"
#include "tools/program/cli/paths.h"

namespace feedrate::tools {
using namespace formats;

namespace {

struct CacheRequest {
  std::filesystem::path path;
  bool clear = false;
  bool json = false;
};

struct CacheContent {
  std::filesystem::path path;
  std::vector<KeptObject> objects = {};
  std::optional<std::uint64_t> freed = {};

  std::uint64_t kept() const {
    std::uint64_t sum = 0;
    for (const KeptObject& object : objects) sum += object.kept;
    return sum;
  }
};

std::string used_text(const KeptObject& object) {
  return fmt::format("{:%FT%TZ}", fmt::gmtime(static_cast<std::time_t>(object.last_used)));
}

std::string content_text(const CacheContent& content) {
  std::string text = content.path.string() + ": ";
  if (content.freed) text += fmt::format("{} freed; ", bytes_text(*content.freed));
  text += fmt::format("{} of {}\n", bytes_text(content.kept()),
                      counted(content.objects.size(), "object"));
  for (const KeptObject& object : content.objects) {
    text += fmt::format("  {}: {} of {}, used {}{}\n",
                        object.url.empty() ? object.file.filename().string() : object.url,
                        bytes_text(std::min(object.kept, object.size)), bytes_text(object.size),
                        used_text(object), object.in_use ? ", in use" : "");
  }
  return text;
}

}  // namespace

template <class Field>
void for_each_field(const KeptObject& object, const Field& field) {
  field("url", object.url, {"of the object, without secrets"});
  field("version", object.version, {"the condition by which it is asked for: `If-Match: ETAG`, …"});
  field("size", object.size, {"bytes of the object"});
  field("kept", object.kept, {"bytes of it on disk"});
  field("last_used", used_text(object), {"UTC, ISO 8601"});
  field("in_use", object.in_use, {"by a process, so that it stays"});
}

template <>
inline constexpr Heading heading_of<CacheContent>{"cache", "What `feedrate cache` prints."};

template <class Field>
void for_each_field(const CacheContent& content, const Field& field) {
  field("path", content.path.string(), {"the directory as given"});
  field("freed", content.freed, {"bytes", Null{"without `--clear`"}});
  field("kept", content.kept(), {"bytes on disk, of all objects"});
  field("objects", content.objects, {"the one used longest ago first"});
}

Description describe_cache() { return description_of(CacheContent{}); }

namespace {

int run_cache(const CacheRequest& options) {
  CacheContent content{.path = options.path};
  if (options.clear) content.freed = clear_cache(options.path);
  content.objects = kept_objects(options.path);
  print(options.json ? json_text_of(content) : content_text(content));
  return exit_done;
}

std::function<int()> prepare_cache(CLI::App& app) {
  auto options = std::make_shared<CacheRequest>();
  add_input(app, "DIR", options->path, "The --cache-dir directory")->required();
  app.add_flag("--clear", options->clear, "Remove what no process uses");
  add_json(app, options->json);
  return [options] { return run_cache(*options); };
}

}  // namespace

extern const Command cache_command;
const Command cache_command{
    .name = "cache",
    .job = Job::data,
    .summary = "Show or clear the download cache",
    .description =
        R"(List the downloaded files in a cache: how much of each is on disk, when it was last used, and
whether a process uses it now.)",
    .details =
        R"(--clear: Rarely needed: --cache-size bounds the cache, and blocks that a killed process left
behind are either valid or downloaded again.)",
    .examples =
        R"(  feedrate load https://host/data/train/ --cache-dir /scratch/cache --cache-size 200000000000
  feedrate cache /scratch/cache
  feedrate cache /scratch/cache --clear
)",
    .prepare = prepare_cache};

}  // namespace feedrate::tools
