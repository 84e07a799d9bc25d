#include "tools/program/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "formats/base/kind.h"
#include "formats/base/text.h"
#include "loader/recipe.h"
#include "trainer/backends/backend.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

constexpr std::uint64_t max_batch = 65536;

constexpr const char* precision_text = "fp32, tf32, bf16 or fp16; on the CPU, bf16 only if faster";

CLI::Option* check_precision(CLI::Option* option) {
  return check_words(option, {std::begin(known_precisions), std::end(known_precisions)});
}

/// Several values, separated by commas.
CLI::Option* as_list(CLI::Option* option, const char* type) {
  return option->type_name(type)->delimiter(',')->allow_extra_args(false);
}

struct Range {
  std::uint64_t first, last;
};
constexpr std::uint64_t max_range = 1000;  // values; more are a typo

/// "8" or "0-4".
std::optional<Range> parse_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = parse_number<std::uint64_t>(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : parse_number<std::uint64_t>(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last - *first >= max_range) return {};
  return Range{*first, *last};
}

/// Whole numbers and ranges, separated by commas: "0-4,8".
template <class T>
CLI::Option* add_whole_list(CLI::App& app, const std::string& name, std::vector<T>& numbers,
                            const std::string& description, const Range& allowed) {
  const auto read = [&numbers](const std::vector<std::string>& words) {
    numbers.clear();
    for (const std::string& word : words) {
      const Range range = parse_range(word).value();
      for (std::uint64_t n = range.first; n <= range.last; ++n) {
        numbers.push_back(static_cast<T>(n));
      }
    }
  };
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(name, read, description);
  option->check([allowed](const std::string& text) {
    const std::optional<Range> range = parse_range(text);
    if (range && range->first >= allowed.first && range->last <= allowed.last) return std::string();
    return fmt::format("expected a whole number from {} to {} or a range such as 1-4, found '{}'",
                       allowed.first, allowed.last, text);
  });
  return as_list(option, "N,N-N…");
}

template <class Accepts>
CLI::Option* check_real(CLI::Option* option, std::string range, Accepts accepts) {
  return option->check([range = std::move(range), accepts](const std::string& text) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    const bool read = error == std::errc() && at == end && std::isfinite(number);
    if (read && accepts(number)) return std::string();
    return fmt::format("expected a number{}, found '{}'", range, text);
  });
}

// CLI11 shows the description of a check after the type of the value: "NAME:{lmdb,recordio}".
constexpr std::string_view words_begin = ":{";
constexpr char words_end = '}';

CLI::Validator described(const std::vector<std::string>& words,
                         std::function<std::string(std::string&)> check) {
  return {std::move(check), fmt::format("{{{}}}", fmt::join(words, ","))};
}

}  // namespace

Prepared prepared(const Command& command) {
  auto app = std::make_shared<CLI::App>("", fmt::format("feedrate {}", command.name));
  app->set_help_flag("-h,--help", "Print this help")->group("Help");
  std::function<int()> work = command.prepare(*app);
  for (CLI::Option* option : app->get_options()) {
    if (option->get_items_expected_max() == 0) {
      option->disable_flag_override();  // "--json=no" would look like a value
      continue;
    }
    option->check([](const std::string& text) {
      return text.empty() ? std::string("expected a value, found ''") : std::string();
    });
  }
  return {std::move(app), std::move(work)};
}

CLI::Option* offer(CLI::Option* option, const std::vector<std::string>& words) {
  return option->check(described(words, [](std::string&) { return std::string(); }));
}

std::vector<std::string> offered_words(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find(words_begin);
  if (begin == std::string::npos) return {};
  const std::size_t first = begin + words_begin.size();
  return CLI::detail::split(type.substr(first, type.find(words_end, first) - first), ',');
}

std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(words_begin));
}

CLI::Option* check_words(CLI::Option* option, const std::vector<std::string>& words) {
  return option->check(described(words, [words](std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    const std::vector<std::string_view> names(words.begin(), words.end());
    const std::string_view nearest = nearest_name(text, names);
    return fmt::format("expected {}, found '{}'{}", fmt::join(words, " or "), text,
                       nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
  }));
}

CLI::Option* check_names(CLI::Option* option, const Names& names) {
  const std::vector<std::string> words(names.all.begin(), names.all.end());
  return option->check(described(words, [names](std::string& text) {
    if (std::ranges::find(names.all, text) != names.all.end()) return std::string();
    std::string refusal = unknown_kind(names.what, text, names.all);
    if (names.what == "recipe") {  // may have parameters behind its name
      try {
        recipe(text);
        return std::string();
      } catch (const Error& error) {
        refusal = error.what();
      }
    }
    if (!names.list.empty()) {
      refusal += fmt::format("\n'feedrate list {}' says what each is.", names.list);
    }
    return refusal;
  }));
}

Names network_names() { return {"network", "networks", kind_names(networks())}; }
Names recipe_names() { return {"recipe", "recipes", kind_names(recipes())}; }
Names device_names() { return {"device", "devices", kind_names(backends())}; }

CLI::Option* add_json(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print one JSON object to stdout")->group("Output");
}

CLI::Option* add_output(CLI::App& app, const std::string& name, std::filesystem::path& path,
                        const std::string& description, const std::string& place) {
  return app.add_option(name, path, description)->type_name(place)->group("Output");
}

CLI::Option* add_name(CLI::App& app, const std::string& option, std::string& name,
                      const Names& known, const std::string& description) {
  return check_names(
      app.add_option(option, name, description)->type_name("NAME")->capture_default_str(), known);
}

CLI::Option* add_names(CLI::App& app, const std::string& option, std::vector<std::string>& names,
                       const Names& known, const std::string& description) {
  return check_names(as_list(app.add_option(option, names, description), "NAME,…"), known);
}

CLI::Option* add_choice(CLI::App& app, const std::string& option, std::string& word,
                        const std::vector<std::string>& words, const std::string& description) {
  return check_words(
      app.add_option(option, word, description)->type_name("HOW")->capture_default_str(), words);
}

CLI::Option* check_whole(CLI::Option* option, std::uint64_t min, std::uint64_t max) {
  return option->check([min, max](const std::string& text) {
    const std::optional<std::uint64_t> number = parse_number<std::uint64_t>(text);
    if (number && *number >= min && *number <= max) return std::string();
    const bool unlimited = max == std::numeric_limits<std::uint64_t>::max();
    const std::string range =
        unlimited ? fmt::format("of at least {}", min) : fmt::format("from {} to {}", min, max);
    return fmt::format("expected a whole number {}, found '{}'", range, text);
  });
}

CLI::Option* check_number(CLI::Option* option) {
  return check_real(option, "", [](double) { return true; });
}

CLI::Option* check_positive(CLI::Option* option) {
  return check_real(option, " above 0", [](double number) { return number > 0; });
}

CLI::Option* check_not_negative(CLI::Option* option) {
  return check_real(option, " of at least 0", [](double number) { return number >= 0; });
}

CLI::Option* add_seed(CLI::App& app, std::uint64_t& seed) {
  CLI::Option* option = app.add_option("--seed", seed, "Seed of every random choice");
  return check_whole(option, 0)->type_name("N")->capture_default_str();
}

CLI::Option* add_batch(CLI::App& app, std::uint32_t& batch) {
  CLI::Option* option = app.add_option("--batch", batch, "Images in a batch");
  return check_whole(option, 1, max_batch)->type_name("N");
}

CLI::Option* add_batch(CLI::App& app, std::vector<std::uint32_t>& batches) {
  return add_whole_list(app, "--batch", batches, "Images in a batch", {1, max_batch});
}

CLI::Option* add_precision(CLI::App& app, std::string& precision) {
  return check_precision(app.add_option("--precision", precision, precision_text)
                             ->type_name("NAME")
                             ->capture_default_str());
}

CLI::Option* add_precision(CLI::App& app, std::vector<std::string>& chosen) {
  return check_precision(as_list(app.add_option("--precision", chosen, precision_text), "NAME,…")
                             ->default_str("fp32"));
}

CLI::Option* add_pixels(CLI::App& app, PixelType& pixels) {
  const auto read = [&pixels](const std::string& word) {
    for (const PixelType type : pixel_types) {
      if (word == name(type)) pixels = type;
    }
  };
  return check_words(
      app.add_option_function<std::string>("--pixels", read,
                                           "Values in batches: u8 pixels, or numbers, f32 or f16")
          ->type_name("TYPE")
          ->default_str(std::string(name(pixels))),
      {"u8", "f32", "f16"});
}

CLI::Option* add_decode(CLI::App& app, Decode& decode) {
  const auto read = [&decode](const std::string& word) {
    for (const Decode one : decodes) {
      if (word == name(one)) decode = one;
    }
  };
  return check_words(
      app.add_option_function<std::string>(
             "--decode", read,
             "JPEGs in full, scaled where a crop allows it; or packed ones on --device")
          ->type_name("HOW")
          ->default_str(std::string(name(decode))),
      {"full", "scaled", "device"});
}

void check_decode(Decode decode, const std::string& recipe) {
  if (decode != Decode::scaled || shrinks(loader::recipe(recipe))) return;
  throw CLI::ValidationError(fmt::format(
      "--decode scaled needs a recipe that makes images smaller, and {} does not", recipe));
}

void check_device_decode(Decode decode, const std::string& device, PixelType pixels) {
  if (decode != Decode::device || (device != "cpu" && pixels == PixelType::u8)) return;
  throw CLI::ValidationError("--decode device needs --device cuda and --pixels u8");
}

CLI::Option* add_mean(CLI::App& app, std::vector<double>& means) {
  return as_list(check_number(app.add_option("--mean", means,
                                             "Mean to subtract: one number or R,G,B (0 … 255)")),
                 "M");
}

CLI::Option* add_deviation(CLI::App& app, std::vector<double>& deviations) {
  return as_list(
      check_number(app.add_option("--deviation", deviations,
                                  "Standard deviation to divide by: one number or R,G,B")),
      "D");
}

CLI::Option* add_no_crop_index(CLI::App& app, bool& used) {
  return app.add_flag_callback(
      "--no-crop-index", [&used] { used = false; },
      "Decode crops without the index of 'feedrate index --crops'");
}

CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads,
                         const std::string& description) {
  return check_whole(app.add_option(name, threads, description), 0, max_threads)->type_name("N");
}

CLI::Option* add_threads(CLI::App& app, const std::string& name, unsigned& threads, bool& automatic,
                         const std::string& description) {
  const auto read = [&threads, &automatic](const std::string& text) {
    automatic = text == "auto";
    const std::optional<unsigned> number = parse_number<unsigned>(text);
    const bool fits = number && *number <= max_loader_threads;
    if (fits) threads = *number;
    return automatic || fits
               ? std::string()
               : fmt::format("expected a whole number from 0 to {} or auto, found '{}'",
                             max_loader_threads, text);
  };
  return offer(app.add_option(name, description)
                   ->check(read)
                   ->default_str(std::to_string(threads))
                   ->type_name("N|auto"),
               {"auto"});
}

CLI::Option* add_threads(CLI::App& app, const std::string& name, std::vector<unsigned>& threads,
                         const std::string& description) {
  return add_whole_list(app, name, threads, description, {0, max_loader_threads});
}

}  // namespace feedrate::tools
