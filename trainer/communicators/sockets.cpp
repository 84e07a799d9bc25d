#include "trainer/communicators/sockets.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>

#include "formats/base/error.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

[[noreturn]] void refuse(const std::string& what, int error) {
  throw Error(join(what, ": ", std::system_category().message(error)));
}

void set(const Descriptor& socket, int level, int option, int value) {
  setsockopt(socket.number(), level, option, &value, sizeof value);  // a refusal does no harm
}

// A machine that lost its power closes no connection: without an answer for half a minute it counts
// as gone.
void prepare(const Descriptor& socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

int milliseconds_to(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

// Whether the kernel gave the connection the very port that it was to reach: where nobody listens
// yet, a connection to the own machine then reaches itself.
bool reaches_itself(const Descriptor& connection) {
  sockaddr_storage here{}, there{};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  getsockname(connection.number(), reinterpret_cast<sockaddr*>(&here), &here_size);
  getpeername(connection.number(), reinterpret_cast<sockaddr*>(&there), &there_size);
  return here_size == there_size && std::memcmp(&here, &there, here_size) == 0;
}

Addresses look_up(const Address& of, int& error) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  error = getaddrinfo(of.host.c_str(), std::to_string(of.port).c_str(), &hints, &found);
  return {error == 0 ? found : nullptr, freeaddrinfo};
}

// Takes the bytes that a call has sent or received off what is left. Throws Error if it failed.
template <class Span>
void pass(Span& left, ssize_t count) {
  if (count > 0) left = left.subspan(static_cast<std::size_t>(count));
  if (count == 0) throw Error("the connection was closed");
  if (count < 0 && errno != EAGAIN && errno != EINTR) refuse("the connection failed", errno);
}

}  // namespace

Descriptor listen_at(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 all{};
  all.sin6_family = AF_INET6;
  all.sin6_port = htons(port);
  sockaddr_in all4{};
  all4.sin_family = AF_INET;
  all4.sin_port = htons(port);
  const sockaddr* place = reinterpret_cast<const sockaddr*>(&all);
  socklen_t size = sizeof all;
  if (socket) {
    set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  } else {  // a machine without IPv6
    socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    place = reinterpret_cast<const sockaddr*>(&all4);
    size = sizeof all4;
  }
  set(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(socket.number(), place, size) != 0 || listen(socket.number(), SOMAXCONN) != 0) {
    refuse(join("port ", port, " cannot be listened to"), errno);
  }
  return socket;
}

std::uint16_t port_of(const Descriptor& listener) {
  sockaddr_storage place{};
  socklen_t size = sizeof place;
  getsockname(listener.number(), reinterpret_cast<sockaddr*>(&place), &size);
  // IPv4 and IPv6 have it at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&place)->sin_port);
}

bool is_readable_before(const Descriptor& from, Deadline deadline) {
  pollfd waiting{from.number(), POLLIN, 0};
  while (poll(&waiting, 1, milliseconds_to(deadline)) != 1) {
    if (Clock::now() >= deadline) return false;
  }
  return true;
}

Descriptor accept_before(const Descriptor& listener, Deadline deadline, std::string& from) {
  if (!is_readable_before(listener, deadline)) return {};
  sockaddr_storage place{};
  socklen_t size = sizeof place;
  Descriptor connection(
      accept4(listener.number(), reinterpret_cast<sockaddr*>(&place), &size, SOCK_CLOEXEC));
  if (!connection) refuse("a connection cannot be accepted", errno);
  std::array<char, NI_MAXHOST> host{};
  getnameinfo(reinterpret_cast<const sockaddr*>(&place), size, host.data(), host.size(), nullptr, 0,
              NI_NUMERICHOST);
  from = host.data();
  prepare(connection);
  return connection;
}

Descriptor connect_before(const Address& to, Deadline deadline) {
  for (;;) {
    int failed = 0;
    const Addresses places = look_up(to, failed);
    int error = 0;
    for (const addrinfo* place = places.get(); place != nullptr; place = place->ai_next) {
      Descriptor connection(::socket(place->ai_family, place->ai_socktype | SOCK_CLOEXEC, 0));
      if (connection && connect(connection.number(), place->ai_addr, place->ai_addrlen) == 0) {
        if (!reaches_itself(connection)) {
          prepare(connection);
          return connection;
        }
        errno = ECONNREFUSED;
      }
      error = errno;
    }
    if (Clock::now() >= deadline) {
      const std::string where = join(to.host, " port ", to.port, " cannot be reached");
      if (failed != 0) throw Error(join(where, ": ", gai_strerror(failed)));
      refuse(where, error);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

void exchange(const Descriptor& to, Bytes sent, const Descriptor& from, MutableBytes received) {
  while (!sent.empty() || !received.empty()) {
    std::array<pollfd, 2> ways = {pollfd{sent.empty() ? -1 : to.number(), POLLOUT, 0},
                                  pollfd{received.empty() ? -1 : from.number(), POLLIN, 0}};
    if (poll(ways.data(), ways.size(), -1) < 0 && errno != EINTR) refuse("poll", errno);
    if (ways[0].revents != 0) {
      pass(sent, ::send(to.number(), sent.data(), sent.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    }
    if (ways[1].revents != 0) {
      pass(received, ::recv(from.number(), received.data(), received.size(), MSG_DONTWAIT));
    }
  }
}

void send_all(const Descriptor& to, Bytes bytes) { exchange(to, bytes, to, {}); }
void receive_all(const Descriptor& from, MutableBytes bytes) { exchange(from, {}, from, bytes); }

void allow_slow_reader(const Descriptor& connection) {
  set(connection, IPPROTO_TCP, TCP_USER_TIMEOUT, 0);
}

void shut(const Descriptor& connection) { shutdown(connection.number(), SHUT_RDWR); }

}  // namespace feedrate::trainer
