#include "trainer/communicators/messages.h"

#include <array>
#include <string_view>

#include "formats/base/error.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

constexpr std::string_view greeting = "feedrate";
constexpr std::size_t hello_bytes = greeting.size() + 4 + 4 + 2, port_bytes = 2;
constexpr std::size_t max_body = 255;

bool has_body_of(Tag tag, std::size_t size) {
  switch (tag) {
    case Tag::hello:
      return size == hello_bytes;
    case Tag::next:
      return size > port_bytes;
    case Tag::take:
    case Tag::stop:
      return size == 0;
    case Tag::number:
      return size == sizeof(std::uint64_t);
    case Tag::lost:
      return size == sizeof(std::uint32_t);
  }
  return false;
}

Message receive(Tag expected, const Descriptor& from) {
  Message message = receive_message(from);
  if (message.tag != expected) throw Error("another message was expected");
  return message;
}

}  // namespace

void send_message(const Descriptor& to, Tag tag, Bytes body) {
  if (body.size() > max_body) throw Error(join("a message of ", body.size(), " bytes is too long"));
  Buffer bytes;
  append_le(bytes, tag);
  append_le(bytes, static_cast<std::uint8_t>(body.size()));
  append(bytes, body);
  send_all(to, bytes);
}

Message receive_message(const Descriptor& from) {
  std::array<std::byte, 2> head{};
  receive_all(from, head);
  const auto size = std::to_integer<std::size_t>(head[1]);
  Message message{static_cast<Tag>(head[0]), {}};
  if (!has_body_of(message.tag, size)) throw Error("what was received is no message of Feedrate's");
  message.body.resize(size);
  receive_all(from, message.body);
  return message;
}

void send_hello(const Descriptor& to, const Hello& hello) {
  Buffer body;
  append(body, as_bytes(greeting));
  append_le(body, hello.rank);
  append_le(body, hello.ranks);
  append_le(body, hello.port);
  send_message(to, Tag::hello, body);
}

Hello receive_hello(const Descriptor& from) {
  const Message message = receive(Tag::hello, from);
  const std::byte* at = message.body.data();
  if (!as_text(message.body).starts_with(greeting)) throw Error("the greeting is not Feedrate's");
  at += greeting.size();
  return {.rank = load_le<std::uint32_t>(at),
          .ranks = load_le<std::uint32_t>(at + 4),
          .port = load_le<std::uint16_t>(at + 8)};
}

void send_next(const Descriptor& to, const Address& next) {
  Buffer body;
  append_le(body, next.port);
  append(body, as_bytes(next.host));
  send_message(to, Tag::next, body);
}

Address receive_next(const Descriptor& from) {
  const Message message = receive(Tag::next, from);
  return {.host = std::string(as_text(message.body).substr(port_bytes)),
          .port = load_le<std::uint16_t>(message.body.data())};
}

}  // namespace feedrate::trainer
