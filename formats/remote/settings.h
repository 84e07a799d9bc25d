#pragma once
// What users set about datasets of servers, wherever they name one: the shell, plans of benchmarks, Python.
// RemoteSettings holds the values and their defaults, for_each_setting() the rest about each of them.

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "formats/base/setting.h"

namespace feedrate::formats {

inline constexpr std::uint64_t max_connections = 4096;
inline constexpr std::uint64_t min_cache_size = std::uint64_t{16} << 20;

struct RemoteSettings {
  unsigned connections = 256;
  std::optional<std::string> endpoint{};   // nothing: what AWS's variables and files say, or AWS
  std::optional<std::string> cache_dir{};  // nothing: bytes are fetched each time
  std::uint64_t cache_size = std::uint64_t{64} << 30;

  /// Not for users: bytes asked for and not yet used, at most, of all datasets.
  std::uint64_t read_ahead_bytes = std::uint64_t{256} << 20;

  bool operator==(const RemoteSettings&) const = default;
};

/// Those of this process, for datasets that are opened without others.
RemoteSettings& remote_settings();

/// Throws Error for what is no URL of a server.
void check_endpoint(std::string_view url);

template <class Settings, class Visit>
requires std::is_same_v<std::remove_const_t<Settings>, RemoteSettings>
void for_each_setting(Settings& of, const Visit& visit) {
  visit({.name = "connections",
         .unit = "N",
         .sentence = "Maximum number of connections to a server",
         .detail = "The server's latency determines how many are used.",
         .min = 1,
         .max = max_connections},
        of.connections);
  visit({.name = "endpoint",
         .unit = "URL",
         .sentence = "Server for s3:// URLs; default: AWS_ENDPOINT_URL, or AWS",
         .check = check_endpoint},
        of.endpoint);
  visit(
      {.name = "cache_dir",
       .unit = "DIR",
       .sentence = "Keep downloads here for later epochs and runs",
       .detail = "Processes may share it. Each run checks that the server's files are unchanged."},
      of.cache_dir);
  visit({.name = "cache_size",
         .unit = "BYTES",
         .sentence = "Maximum size of the cache; least recently used data is removed first",
         .detail = "Data in use is never removed; what does not fit is downloaded again each time.",
         .min = min_cache_size},
        of.cache_size);
}

}  // namespace feedrate::formats
