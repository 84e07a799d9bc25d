#include "tools/program/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "formats/base/cores.h"
#include "formats/base/text.h"
#include "tools/console/advised_error.h"
#include "tools/program/cli/parser.hpp"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

/// Does `work`; its errors name the option, and say where the names that it takes are explained.
template <class Work>
void reading(const CLI::Option& option, const Setting& row, const Work& work) {
  try {
    work();
  } catch (const Error& problem) {
    const std::string advice =
        row.list.empty() ? "" : fmt::format("'feedrate list {}' says what each is.", row.list);
    throw AdvisedError(join(option.get_name(), ": ", problem.what()), advice);
  }
}

OptionFacts facts(const Setting& row, std::string unit) {
  OptionFacts facts{std::move(unit), {row.words.begin(), row.words.end()}, expected(row)};
  if (row.names != nullptr) {
    for (const std::string_view name : row.names()) facts.words.emplace_back(name);
  }
  if (row.optional && !row.nothing.empty()) facts.words.emplace_back(row.nothing);
  return facts;
}

void remember(CLI::App& app, CLI::Option* option, const Setting& row, std::string unit) {
  OptionFacts known = facts(row, std::move(unit));
  option->type_name(known.unit);
  explain(app, option, row.detail);
  static_cast<Parser&>(app).facts.emplace(option, std::move(known));
}

/// The value, unless the row would refuse it, as it does a 0 that means none.
std::string default_of(const BoundSetting& setting) {
  const bool number =
      setting.row.kind == SettingKind::whole || setting.row.kind == SettingKind::real;
  try {
    if (number && !setting.value.empty()) setting.read(setting.value);
    return setting.value;
  } catch (const Error&) {
    return "";
  }
}

CLI::Option* add_flag(CLI::App& app, const BoundSetting& flag) {
  const bool sets = flag.row.without.empty();
  CLI::Option* option = app.add_flag_callback(
      spelled(flag.row, Spelling::shell), [flag, sets] { flag.read(sets ? "true" : "false"); },
      std::string(sets ? flag.row.sentence : flag.row.without));
  if (sets) explain(app, option, flag.row.detail);
  return option;
}

/// An option that hands `take` its texts: one, or those that stood between commas.
template <class Take>
CLI::Option* add_texts(CLI::App& app, const std::string& name, const Setting& row, Take take) {
  // The parser calls back once the option exists.
  auto self = std::make_shared<const CLI::Option*>(nullptr);
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(
      name,
      [row, take, self](const std::vector<std::string>& texts) {
        reading(**self, row, [&] { take(texts); });
      },
      std::string(row.sentence));
  *self = option;
  return option;
}

CLI::Option* as_one(CLI::Option* option) { return option->expected(1)->allow_extra_args(false); }

CLI::Option* as_list(CLI::Option* option) {
  return option->delimiter(',')->allow_extra_args(false);
}

constexpr std::uint64_t max_range = 1000;  // values; more are a typo

/// "8", or each number of "0-4". Throws Error for another text.
void expand(const Setting& row, const std::string& text, std::vector<std::string>& values) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number<std::uint64_t>(std::string_view(text).substr(0, dash));
  const auto last = dash == std::string::npos
                        ? first
                        : parse_number<std::uint64_t>(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first < row.min || *last > row.max || *first > *last ||
      *last - *first >= max_range) {
    throw Error(refusal(row, fmt::format("'{}'", text)));
  }
  for (std::uint64_t n = *first; n <= *last; ++n) values.push_back(std::to_string(n));
}

}  // namespace

Prepared prepared(const Command& command) {
  auto app = std::make_shared<Parser>("", fmt::format("feedrate {}", command.name));
  app->set_help_flag("-h", "Show the common options");
  app->set_help_all_flag("--help", "Show all options, with explanations");
  std::function<int()> work = command.prepare(*app);
  for (CLI::Option* option : app->get_options()) {
    if (option->get_items_expected_max() == 0) {
      option->disable_flag_override();  // "--json=no" would look like a value
      continue;
    }
    option->check([refusal = empty_refusal(*app, *option)](const std::string& text) {
      return text.empty() ? refusal : std::string();
    });
  }
  return {std::move(app), std::move(work)};
}

void explain(CLI::App& app, const CLI::Option* option, std::string_view detail) {
  static_cast<Parser&>(app).details.insert_or_assign(option, std::string(detail));
}

CLI::Option* add_option(CLI::App& app, const BoundSetting& setting) {
  if (setting.row.kind == SettingKind::flag) return add_flag(app, setting);
  const auto take = [setting](const std::vector<std::string>& texts) {
    setting.read(fmt::format("{}", fmt::join(texts, ",")));
  };
  CLI::Option* option = add_texts(app, spelled(setting.row, Spelling::shell), setting.row, take);
  if (setting.row.kind == SettingKind::reals) {
    as_list(option);
  } else {
    as_one(option);
  }
  remember(app, option, setting.row, std::string(setting.row.unit));
  return option->default_str(default_of(setting));
}

CLI::Option* add_argument(CLI::App& app, const std::string& name, const Setting& row,
                          std::string& value) {
  const BoundSetting setting = bound(row, value);
  CLI::Option* option = add_texts(app, name, row, [setting](const std::vector<std::string>& texts) {
    setting.read(texts.front());
  });
  remember(app, as_one(option), setting.row, "");
  return option;
}

CLI::Option* add_list(CLI::App& app, const BoundList& list) {
  const bool numbers = list.row.kind == SettingKind::whole;
  Setting row = list.row;
  if (numbers) {  // for refusals
    row.optional = true;
    row.nothing = "a range such as 1-4";
  }
  const auto take = [list, row, numbers](const std::vector<std::string>& texts) {
    std::vector<std::string> values;
    for (const std::string& text : texts) {
      numbers ? expand(row, text, values) : values.push_back(text);
    }
    list.read(values);
  };
  CLI::Option* option = as_list(add_texts(app, spelled(row, Spelling::shell), row, take));
  remember(app, option, list.row, numbers ? "N,N-N…" : fmt::format("{},…", row.unit));
  return option->default_str(fmt::format("{}", fmt::join(list.values, ",")));
}

CLI::Option* add_json(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print one JSON object to stdout");
}

CLI::Option* add_threads(CLI::App& app, unsigned& threads, std::string_view description) {
  return add_option(app,
                    {.name = "threads", .unit = "N", .sentence = description, .max = max_threads},
                    threads)
      ->default_str("");
}

void check_device_decode(Decode decode, const std::string& device, PixelType pixels) {
  if (decode != Decode::device || (device != "cpu" && pixels == PixelType::u8)) return;
  throw Error("--decode device needs --device cuda and --pixels u8");
}

void check_compute_threads(const trainer::DeviceSettings& device) {
  if (device.compute_threads == 0 || device.name == "cpu") return;
  throw Error(join("--compute-threads is for --device cpu, not ", device.name));
}

}  // namespace feedrate::tools
