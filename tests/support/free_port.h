#pragma once
// A port at which a test's own processes can meet.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "formats/io/file.h"

namespace feedrate::testing {

/// A TCP port of this test's own, for as long as it runs: no other call gets it, here or in another
/// process, which the UDP port of the same number sees to. It lies below those that the kernel gives
/// to connections (net.ipv4.ip_local_port_range). Thread-safe.
inline std::uint16_t free_port() {
  static std::mutex mutex;
  static std::vector<formats::Descriptor> held;
  static auto next = static_cast<unsigned>(getpid()) * 37;
  const std::lock_guard lock(mutex);
  for (;;) {
    const auto port = static_cast<std::uint16_t>(10'000 + next++ % 20'000);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    const auto* address = reinterpret_cast<const sockaddr*>(&place);
    const formats::Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    formats::Descriptor token(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (bind(token.number(), address, sizeof place) != 0) continue;
    if (bind(listener.number(), address, sizeof place) != 0) continue;
    held.push_back(std::move(token));
    return port;
  }
}

}  // namespace feedrate::testing
