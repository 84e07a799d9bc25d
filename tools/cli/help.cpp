#include "tools/cli/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>

#include "formats/base/text.h"
#include "tools/cli/bars.h"
#include "trainer/backends/backend.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

constexpr std::size_t name_columns = 26;
constexpr const char* help_group = "Help";
constexpr std::uint64_t max_batch = 65536;
// Far above the cores of any machine: a larger number is a typo and would only exhaust memory.
constexpr std::uint64_t max_threads = 1024;

constexpr const char* precision_text = "fp32, tf32, bf16 or fp16; on the CPU, bf16 only if faster";

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::IsMember(words).description("");
}

CLI::Validator known_precision() {
  return one_of({std::begin(known_precisions), std::end(known_precisions)});
}

/// Several values, separated by commas.
CLI::Option* as_list(CLI::Option* option, const char* type) {
  return option->type_name(type)->delimiter(',')->allow_extra_args(false);
}

template <class Accepts>
CLI::Option* check_real(CLI::Option* option, std::string range, Accepts accepts) {
  return option->check([range = std::move(range), accepts](const std::string& text) {
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    const bool read = error == std::errc() && at == end && std::isfinite(number);
    if (read && accepts(number)) return std::string();
    return fmt::format("expected a number {}, found '{}'", range, text);
  });
}

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool many = option.get_items_expected_max() > 1 && option.get_delimiter() == '\0';
  return type.empty() ? "" : type + (many ? "…" : "");
}

/// Our layout: the usage line names what is required; defaults stand at the ends of descriptions.
class HelpLayout : public CLI::Formatter {
 public:
  HelpLayout() { column_width(name_columns); }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "Usage: " + name;
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_positional()) continue;
      const std::string word =
          option->get_name() + (option->get_items_expected_max() > 1 ? "…" : "");
      usage += option->get_required() ? " " + word : " [" + word + "]";
    }
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional() || !option->get_required()) continue;
      usage += fmt::format(" {} {}", option->get_name(), value_name(*option));
    }
    return usage + " [options]\n";
  }

  /// Groups are in the order in which their first options were declared; help is last.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string text = make_description(app) + make_usage(app, name) + make_positionals(app);
    for (const std::string& group : app->get_groups()) {
      const auto options = app->get_options([&](const CLI::Option* option) {
        return option->get_group() == group && option->nonpositional();
      });
      if (!options.empty() && group != help_group) text += make_group(group, false, options);
    }
    text += make_group(help_group, false, {app->get_help_ptr()});
    return text + "\n" + app->get_footer();
  }

  std::string make_group(std::string group, bool positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = "\n" + group + ":\n";
    for (const CLI::Option* option : options) text += make_option(option, positional);
    return text;
  }

  std::string make_description(const CLI::App* app) const override {
    return app->get_description() + "\n\n";
  }

  std::string make_positionals(const CLI::App* app) const override {
    const auto positionals =
        app->get_options([](const CLI::Option* option) { return option->get_positional(); });
    return positionals.empty() ? "" : make_group("Arguments", true, positionals);
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    const std::string left = "  " + make_option_name(option, positional) + make_option_opts(option);
    const std::size_t columns = columns_of(left);
    const std::string gap = columns < name_columns ? std::string(name_columns - columns, ' ')
                                                   : "\n" + std::string(name_columns, ' ');
    return left + gap + make_option_desc(option) + "\n";
  }

  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    return positional ? option->get_name(true, false) : option->get_name(false, true);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional()) return "";
    const std::string name = value_name(*option);
    return name.empty() ? "" : " " + name;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string value = option->get_default_str();
    return option->get_description() + (value.empty() ? "" : " (default " + value + ")");
  }
};

}  // namespace

void set_help(CLI::App& app, const Command& command) {
  app.description(std::string(command.description));
  app.footer("Examples:\n" + std::string(command.examples));
  app.formatter(std::make_shared<HelpLayout>());
  app.set_help_flag("-h,--help", "Print this help")->group(help_group);
}

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;  // a flag
    option->check([](const std::string& text) {
      return text.empty() ? std::string("expected a value, found ''") : std::string();
    });
  }
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

CLI::Option* add_json(CLI::App& app, bool& json) {
  return app.add_flag("--json", json, "Print one JSON object to stdout")->group("Output");
}

CLI::Option* add_output(CLI::App& app, const std::string& name, std::filesystem::path& path,
                        const std::string& description, const std::string& place) {
  return app.add_option(name, path, description)->type_name(place)->group("Output");
}

CLI::Option* add_name(CLI::App& app, const std::string& option, std::string& name,
                      const std::string& description) {
  return app.add_option(option, name, description)->type_name("NAME")->capture_default_str();
}

CLI::Option* add_names(CLI::App& app, const std::string& option, std::vector<std::string>& names,
                       const std::string& description) {
  return as_list(app.add_option(option, names, description), "NAME,…");
}

CLI::Option* add_choice(CLI::App& app, const std::string& option, std::string& word,
                        const std::vector<std::string>& words, const std::string& description) {
  return app.add_option(option, word, description)
      ->type_name("HOW")
      ->check(one_of(words))
      ->capture_default_str();
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

CLI::Option* check_positive(CLI::Option* option) {
  return check_real(option, "above 0", [](double number) { return number > 0; });
}

CLI::Option* check_not_negative(CLI::Option* option) {
  return check_real(option, "of at least 0", [](double number) { return number >= 0; });
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
  CLI::Option* option = app.add_option("--batch", batches, "Images in a batch");
  return as_list(check_whole(option, 1, max_batch), "N,N…");
}

CLI::Option* add_precision(CLI::App& app, std::string& precision) {
  return add_name(app, "--precision", precision, precision_text)->check(known_precision());
}

CLI::Option* add_precision(CLI::App& app, std::vector<std::string>& chosen) {
  return add_names(app, "--precision", chosen, precision_text)
      ->default_str("fp32")
      ->check(known_precision());
}

CLI::Option* add_pixels(CLI::App& app, PixelType& pixels) {
  return app
      .add_option_function<std::string>(
          "--pixels",
          [&pixels](const std::string& word) {
            for (const PixelType type : pixel_types) {
              if (word == name(type)) pixels = type;
            }
          },
          "Values in batches: u8 pixels, or planes of f32 or f16")
      ->type_name("TYPE")
      ->check(one_of({"u8", "f32", "f16"}))
      ->default_str(std::string(name(pixels)));
}

CLI::Option* add_mean(CLI::App& app, std::vector<double>& means) {
  return app.add_option("--mean", means, "Mean to subtract: one number or R,G,B (0 … 255)")
      ->delimiter(',')
      ->type_name("M");
}

CLI::Option* add_deviation(CLI::App& app, std::vector<double>& deviations) {
  return app
      .add_option("--deviation", deviations, "Standard deviation to divide by: one number or R,G,B")
      ->delimiter(',')
      ->type_name("D");
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
    if (number && *number <= max_threads) threads = *number;
    return automatic || (number && *number <= max_threads)
               ? std::string()
               : fmt::format("expected a whole number from 0 to {} or auto, found '{}'",
                             max_threads, text);
  };
  return app.add_option(name, description)
      ->check(read)
      ->default_str(std::to_string(threads))
      ->type_name("N|auto");
}

CLI::Option* add_threads(CLI::App& app, const std::string& name, std::vector<unsigned>& threads,
                         const std::string& description) {
  return as_list(check_whole(app.add_option(name, threads, description), 0, max_threads), "N,N…");
}

}  // namespace feedrate::tools
