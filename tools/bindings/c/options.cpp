#include "tools/bindings/c/options.h"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tools/bindings/c/forks.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

[[noreturn]] void misused(const std::string& text) { throw Failure(FEEDRATE_MISUSED, text); }

// A list in two members.
struct Numbers {
  const double** first;
  std::uint32_t* count;
};

using Member = std::variant<std::int32_t*, std::uint32_t*, std::uint64_t*, const char**,
                            feedrate_state*, Numbers>;

using Members = std::vector<std::pair<std::string_view, Member>>;

// What of the struct holds the setting of each name.
Members members_of(feedrate_loader_options& all) {
  return {
      {"recipe", &all.recipe},
      {"batch", &all.batch},
      {"threads", &all.threads},
      {"epochs", &all.epochs},
      {"start", &all.start},
      {"seed", &all.start.seed},
      {"rank", &all.rank},
      {"ranks", &all.ranks},
      {"shuffle", &all.shuffle},
      {"pixels", &all.pixels},
      {"window", &all.window},
      {"shuffle_blocks", &all.shuffle_blocks},
      {"last", &all.last},
      {"on_bad", &all.on_bad},
      {"bad_budget", &all.bad_budget},
      {"mean", Numbers{&all.mean, &all.mean_count}},
      {"deviation", Numbers{&all.deviation, &all.deviation_count}},
      {"io_threads", &all.io_threads},
      {"layout", &all.layout},
      {"decode", &all.decode},
      {"crop_index", &all.crop_index},
  };
}
Members members_of(feedrate_remote_options& all) {
  return {{"connections", &all.connections},
          {"endpoint", &all.endpoint},
          {"cache_dir", &all.cache_dir},
          {"cache_size", &all.cache_size}};
}

Member member_of(const Members& members, std::string_view setting) {
  const auto found = std::ranges::find(members, setting, [](const auto& one) { return one.first; });
  if (found == members.end()) misused(join("no member for the setting ", setting));
  return found->second;
}

template <class Options>
struct SettingsOf;
template <>
struct SettingsOf<feedrate_loader_options> {
  using Type = LoaderSettings;
};
template <>
struct SettingsOf<feedrate_remote_options> {
  using Type = RemoteSettings;
};

// How a number stands for a value of a setting: an optional setting's words count from 1, and it has
// no value where the number is 0 or, of `threads`, -1.
template <class Value>
constexpr bool is_word = std::is_enum_v<Value>;
template <class Value, class Given>
constexpr Given no_value = std::is_signed_v<Given> && !is_word<Value> ? -1 : 0;

[[noreturn]] void refuse(const Setting& row, const auto& found) {
  throw Error(join(row.name, ": ", refusal(row, join(found), Spelling::c)));
}

template <class Value>
concept Counted = std::unsigned_integral<Value> || std::is_enum_v<Value>;

// take() sets a setting to what a member holds; put() the other way round.

template <Counted Value>
void take(const Setting& row, const std::integral auto* given, Value& value) {
  const std::uint64_t first = is_word<Value> && row.optional ? 1 : 0;
  const std::uint64_t low = is_word<Value> ? first : row.min;
  const std::uint64_t high = is_word<Value> ? first + row.words.size() - 1 : row.max;
  if (std::cmp_less(*given, low) || std::cmp_greater(*given, high)) refuse(row, *given);
  value = static_cast<Value>(static_cast<std::uint64_t>(*given) - first);
}
template <Counted Value, std::integral Given>
void take(const Setting& row, const Given* given, std::optional<Value>& value) {
  value.reset();
  if (*given != no_value<Value, Given>) take(row, given, value.emplace());
}
void take(const Setting&, const std::int32_t* given, bool& value) { value = *given != 0; }
void take(const Setting&, const std::int32_t* given, std::optional<bool>& value) {
  value = *given < 0 ? std::nullopt : std::optional(*given != 0);
}
void take(const Setting&, const char* const* given, std::string& value) {
  if (*given != nullptr) value = *given;
}
void take(const Setting&, const char* const* given, std::optional<std::string>& value) {
  value.reset();
  if (*given != nullptr) value = *given;
}
void take(const Setting& row, const Numbers& given, std::vector<double>& value) {
  if (*given.count > 0) expect_pointer(*given.first, std::string(row.name).c_str());
  value.assign(*given.first, *given.first + *given.count);
}
void take(const Setting&, const feedrate_state* given, StartPlace& value) {
  value = {given->epoch, given->position};
}

template <Counted Value, std::integral Given>
void put(const Value& value, Given* member) {
  *member = static_cast<Given>(value);
}
template <Counted Value, std::integral Given>
void put(const std::optional<Value>& value, Given* member) {
  *member = no_value<Value, Given>;
  if (value) *member = static_cast<Given>(static_cast<std::uint64_t>(*value) + is_word<Value>);
}
void put(bool value, std::int32_t* member) { *member = value; }
void put(const std::optional<bool>& value, std::int32_t* member) { *member = value ? *value : -1; }
void put(const std::string& value, const char** member) { *member = value.c_str(); }
void put(const std::optional<std::string>& value, const char** member) {
  *member = value ? value->c_str() : nullptr;
}
void put(const std::vector<double>&, const Numbers&) {}  // no list of numbers has a default
void put(const StartPlace& value, feedrate_state* member) {
  member->epoch = value.epoch;
  member->position = value.position;
}

template <class Options>
Options defaults() {
  static const typename SettingsOf<Options>::Type usual;
  Options all{};
  all.size = sizeof all;
  const Members members = members_of(all);
  for_each_setting(usual, [&](const Setting& row, const auto& value) {
    std::visit(
        [&](auto member) {
          if constexpr (requires { put(value, member); }) put(value, member);
        },
        member_of(members, row.name));
  });
  return all;
}

// The caller's options; the defaults of those that it does not know.
template <class Options>
Options completed(const Options* given) {
  expect_pointer(given, "options");
  expect_size(given->size, first_size<Options>, "options");
  Options all = defaults<Options>();
  std::memcpy(static_cast<void*>(&all), given, std::min(given->size, sizeof all));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof all; i < given->size; ++i) {
    if (bytes[i] != 0) {
      misused(join("options: byte ", i, " is set, but this is feedrate ", FEEDRATE_VERSION,
                   ", whose options have ", sizeof all, " bytes; install a newer library"));
    }
  }
  return all;
}

template <class Options>
typename SettingsOf<Options>::Type settings_of(Options given) {
  typename SettingsOf<Options>::Type settings;
  const Members members = members_of(given);
  for_each_setting(settings, [&](const Setting& row, auto& value) {
    std::visit(
        [&](auto member) {
          if constexpr (requires { take(row, member, value); }) {
            take(typed(row, value), member, value);
          }
        },
        member_of(members, row.name));
  });
  return settings;
}

LoaderSetup setup_of(const feedrate_loader_options& given, const Dataset& dataset) {
  const LoaderSettings settings = settings_of(given);
  LoaderSetup setup = set_up(settings, dataset, nullptr, Spelling::c);
  if (!setup.recipe->mixers().empty()) {
    misused(join("recipe ", setup.recipe->name(),
                 " mixes images and their labels, but a batch here has one label an image"));
  }
  return setup;
}

// Every Error of `work` is about an option.
template <class Work>
auto about_options(const Work& work) {
  try {
    return work();
  } catch (const Failure&) {
    throw;
  } catch (const Error& error) {
    misused(error.what());
  }
}

// Sets `size` and every option to its default.
template <class Options>
feedrate_status init(Options* options, std::size_t size) {
  return guarded([&] {
    expect_pointer(options, "options");
    expect_size(size, first_size<Options>, "options");
    Options all = defaults<Options>();
    all.size = size;
    std::memset(static_cast<void*>(options), 0, size);
    std::memcpy(static_cast<void*>(options), &all, std::min(size, sizeof all));
  });
}

}  // namespace

LoaderSetup checked_options(const feedrate_loader_options* given, const Dataset& dataset) {
  return about_options([&] { return setup_of(completed(given), dataset); });
}

RemoteSettings checked_options(const feedrate_remote_options* given) {
  return about_options([&] {
    RemoteSettings settings = settings_of(completed(given));
    expect_values(settings, Spelling::c);
    return settings;
  });
}

}  // namespace feedrate::tools

using namespace feedrate::tools;

feedrate_status feedrate_loader_options_init(feedrate_loader_options* options, size_t size) {
  return init(options, size);
}

feedrate_status feedrate_remote_options_init(feedrate_remote_options* options, size_t size) {
  return init(options, size);
}
