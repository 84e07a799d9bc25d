#include "tools/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>

namespace feedrate {
namespace {

constexpr std::size_t name_columns = 26;
constexpr const char* help_group = "Help";

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const bool many = option.get_items_expected_max() > 1 && option.get_delimiter() == '\0';
  return type.empty() ? "" : type + (many ? "…" : "");
}

/// The house's layout: the usage names what must be given, defaults stand at the end of a line.
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

  /// Groups in the order in which their first option was declared, help last.
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
    const std::string gap = left.size() < name_columns
                                ? std::string(name_columns - left.size(), ' ')
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
    const std::string standard = option->get_default_str();
    return option->get_description() + (standard.empty() ? "" : " (default " + standard + ")");
  }
};

}  // namespace

void set_help(CLI::App& app, const Command& command) {
  app.description(std::string(command.description()));
  app.footer("Examples:\n" + std::string(command.examples()));
  app.formatter(std::make_shared<HelpLayout>());
  app.set_help_flag("-h,--help", "Print this help")->group(help_group);
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

CLI::Option* add_seed(CLI::App& app, std::uint64_t& seed) {
  return app.add_option("--seed", seed, "Seed of every random choice")
      ->type_name("N")
      ->capture_default_str();
}

CLI::Option* add_batch(CLI::App& app, std::uint32_t& batch) {
  return app.add_option("--batch", batch, "Images in a batch")
      ->type_name("N")
      ->check(CLI::Range(1U, 65536U).description(""));
}

}  // namespace feedrate
