#pragma once
// Connections over TCP between processes that work together. Failures are Errors that name the
// other end; a call on a connection that was shut down fails at once.

#include <chrono>
#include <cstdint>
#include <string>

#include "formats/base/bytes.h"
#include "formats/io/file.h"

namespace feedrate::trainer {

using Deadline = std::chrono::steady_clock::time_point;

struct Address {
  std::string host;  // a name or a number
  std::uint16_t port = 0;
};

/// Takes connections at a port of every address of this machine; port 0: one that is free.
formats::Descriptor listen_at(std::uint16_t port);
std::uint16_t port_of(const formats::Descriptor& listener);

/// Whether data or the end of the connection arrives before the deadline; at a listener, whether a
/// connection does.
bool is_readable_before(const formats::Descriptor& from, Deadline deadline);
/// The next connection, and the address of its other end in `from`; empty after the deadline.
formats::Descriptor accept_before(const formats::Descriptor& listener, Deadline deadline,
                                  std::string& from);
/// Tries until there is a listener. Throws Error naming the address after the deadline.
formats::Descriptor connect_before(const Address& to, Deadline deadline);

/// Send or receive all of `bytes`. Throw Error when the other end is gone.
void send_all(const formats::Descriptor& to, formats::Bytes bytes);
void receive_all(const formats::Descriptor& from, formats::MutableBytes bytes);
/// Sends and receives at once, so that ranks in a ring never wait for each other to read.
void exchange(const formats::Descriptor& to, formats::Bytes sent, const formats::Descriptor& from,
              formats::MutableBytes received);
/// From now on the other end may leave what is sent to it unread for any time. By default, half a
/// minute of that ends the connection, as if its machine had gone.
void allow_slow_reader(const formats::Descriptor& connection);
/// Ends all calls under way on the connection, in other threads too.
void shut(const formats::Descriptor& connection);

}  // namespace feedrate::trainer
