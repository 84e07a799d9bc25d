#include "loader/recipe.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "formats/base/fork_mutex.h"
#include "loader/recipes/composed.h"
#include "loader/recipes/part.h"

namespace feedrate::loader {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Recipe& name##_recipe;
#include "loader/recipes/list.inc"
#undef FEEDRATE_ROW

#define FEEDRATE_ROW(name) extern const PartKind& name##_part;
#include "loader/augment/list.inc"
#undef FEEDRATE_ROW

namespace {

/// Recipes with given values, and composed ones, by name. They live as long as the program, as all
/// kinds do.
class Made {
 public:
  static Made& of_process() {
    static Made& made = *new Made;  // never destroyed: threads may outlive main()
    return made;
  }
  /// Calls `make(name)` for a name that is new; the name lives as long as what it makes.
  template <class Make>
  const Recipe& get(std::string name, Make make) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = recipes_.try_emplace(std::move(name), nullptr);
    try {
      if (is_new) at->second = make(at->first);
    } catch (...) {
      recipes_.erase(at);
      throw;
    }
    return *at->second;
  }

 private:
  ForkMutex mutex_;
  std::map<std::string, std::unique_ptr<const Recipe>, std::less<>> recipes_;
};

const Recipe& adjusted(const Recipe& plain, std::string_view settings) {
  if (plain.parameters().empty()) {
    throw Error(join("recipe ", plain.name(), " has no parameters, found '", settings, "'"));
  }
  const ParameterValues values(plain.name(), plain.parameters(), settings);
  if (values.text().empty()) return plain;
  return Made::of_process().get(join(plain.name(), ":", values.text()),
                                [&](std::string_view name) { return plain.with(name, values); });
}

}  // namespace

std::span<const Recipe* const> recipes() {
  static const Recipe* const rows[] = {
#define FEEDRATE_ROW(name) &name##_recipe,
#include "loader/recipes/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

std::span<const PartKind* const> recipe_parts() {
  static const PartKind* const rows[] = {
#define FEEDRATE_ROW(name) &name##_part,
#include "loader/augment/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

namespace {

const Recipe& plain_recipe(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto all = recipes();
  const auto plain = std::ranges::find(all, name, [](const Recipe* row) { return row->name(); });
  if (plain == all.end()) {
    std::vector<std::string_view> names = kind_names(all);
    for (const PartKind* part : recipe_parts()) names.push_back(part->name());
    throw Error(unknown_kind("recipe", name, names));
  }
  return colon == std::string_view::npos ? **plain : adjusted(**plain, text.substr(colon + 1));
}

}  // namespace

const Recipe& recipe(std::string_view text) {
  Composition composition = read_composition(text, plain_recipe);
  if (composition.passes.front().empty() && composition.passes.size() == 1)
    return *composition.base;
  // A copy of the name, because the lambda moves the composition away.
  return Made::of_process().get(std::string(composition.name), [&](std::string_view name) {
    return compose(name, std::move(composition));
  });
}

}  // namespace feedrate::loader
