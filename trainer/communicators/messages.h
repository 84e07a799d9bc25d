#pragma once
// Messages between two ranks that TCP connects:
//
//   tag (1 byte) | size of the body (1 byte) | body
//
//   tag     body                                        from      to
//   hello   "feedrate", rank u32, ranks u32, port u16   any rank  rank 0 and the next rank
//   next    port u16, host                              rank 0    any rank
//   take                                                any rank  rank 0
//   stop                                                any rank  rank 0
//   number  u64                                         rank 0    the rank that sent take or stop
//   lost    rank u32                                    rank 0    every rank
//
// Numbers are little-endian.

#include <cstdint>
#include <string>

#include "trainer/communicators/sockets.h"

namespace feedrate::trainer {

enum class Tag : std::uint8_t { hello = 1, next, take, stop, number, lost };

struct Message {
  Tag tag;
  formats::Buffer body;
};

/// Throws Error when the other end is gone, receive_message() also when it sends anything but a
/// message with a body of the right size.
void send_message(const formats::Descriptor& to, Tag tag, formats::Bytes body = {});
Message receive_message(const formats::Descriptor& from);

/// Who connects. `port` is where this rank listens for the one before it; 0 in the greeting to the
/// next rank.
struct Hello {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint16_t port = 0;
};
void send_hello(const formats::Descriptor& to, const Hello& hello);
/// Throws Error when what comes is no hello.
Hello receive_hello(const formats::Descriptor& from);

/// Where the next rank listens.
void send_next(const formats::Descriptor& to, const Address& next);
Address receive_next(const formats::Descriptor& from);

}  // namespace feedrate::trainer
