#include "formats/pickle/pickle.h"

#include <algorithm>
#include <array>
#include <string>

#include "formats/base/error.h"
#include "formats/digests/digest.h"
#include "formats/pickle/pickle_globals.h"
#include "formats/pickle/pickle_stack.h"

namespace feedrate::formats {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t longest_name = 256;  // of a module and of what is in it
constexpr unsigned char proto_code = 0x80;
constexpr unsigned first_protocol = 2, last_protocol = 5;

// A name from the file as it may stand in an error.
std::string printable(std::string_view name) {
  std::string shown(name.substr(0, 60));
  std::ranges::replace_if(
      shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

// Python's pickle machine: opcodes of one byte that take their arguments from the bytes behind them
// and from the stack.
class Machine {
 public:
  Machine(Bytes input, PickleStack& stack) : input_(input), stack_(stack) {}

  const PickleValue& run();

 private:
  struct Opcode {
    unsigned char code;
    std::string_view name;      // Python's
    void (Machine::*action)();  // null: refused
  };
  static const Opcode opcodes[];
  static std::array<const Opcode*, 256> opcodes_by_code();

  Bytes take(std::uint64_t size) {
    if (size > input_.size() - at_) {
      throw Error(join("the pickle is cut off: ", size, " bytes should follow, ",
                       input_.size() - at_, " do"));
    }
    const Bytes bytes = input_.subspan(at_, static_cast<std::size_t>(size));
    at_ += bytes.size();
    return bytes;
  }

  template <class T>
  T number() {
    return load_le<T>(take(sizeof(T)).data());
  }

  std::string_view name_line() {
    const std::string_view rest = as_text(input_.subspan(at_)).substr(0, longest_name + 1);
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) throw Error("a name has no end");
    take(end + 1);
    return rest.substr(0, end);
  }

  void proto() { throw Error("comes again inside the pickle"); }
  void frame() {  // tells how far one may read at once; here everything is in memory
    const auto size = number<std::uint64_t>();
    if (size > input_.size() - at_) {
      throw Error(join("the pickle is cut off: a frame of ", size, " bytes should follow, ",
                       input_.size() - at_, " do"));
    }
  }
  void stop() { stopped_ = true; }

  void mark() { stack_.mark(); }
  void pop() {
    if (stack_.at_mark()) {
      stack_.drop_mark();
    } else {
      stack_.pop();
    }
  }
  void pop_mark() { stack_.pop_to_mark(); }
  void dup() { stack_.push(stack_.top()); }

  template <Kind kind, int value = 0>
  void constant() {
    stack_.push_new(kind).number = value;
  }
  template <class T>
  void integer() {
    const T value = number<T>();
    stack_.push_new(Kind::integer).number = value;
  }
  void long1();
  template <Kind kind, class Length>
  void string() {
    const Bytes bytes = take(number<Length>());
    stack_.push_new(kind).data = bytes;
  }

  void append() {
    PickleNode* const item = &stack_.pop();
    stack_.put_into(stack_.top(), Kind::list, {&item, 1});
  }
  void setitem() {
    PickleNode* const value = &stack_.pop();
    PickleNode* const pair[] = {&stack_.pop(), value};
    stack_.put_into(stack_.top(), Kind::dict, pair);
  }
  void appends() {
    const std::vector<PickleNode*> items = stack_.pop_to_mark();
    stack_.put_into(stack_.top(), Kind::list, items);
  }
  void setitems() {
    const std::vector<PickleNode*> items = stack_.pop_to_mark();
    if (items.size() % 2 != 0) throw Error("gives a dict a key without a value");
    stack_.put_into(stack_.top(), Kind::dict, items);
  }
  void tuple() {
    const std::vector<PickleNode*> items = stack_.pop_to_mark();
    stack_.put_into(stack_.push_new(Kind::tuple), Kind::tuple, items);
  }
  template <std::size_t count>
  void short_tuple() {
    std::array<PickleNode*, count> items;
    for (std::size_t i = count; i-- > 0;) items[i] = &stack_.pop();
    stack_.put_into(stack_.push_new(Kind::tuple), Kind::tuple, items);
  }

  template <class Key>
  void put() {
    stack_.remember(number<Key>());
  }
  void memoize() { stack_.remember_next(); }
  template <class Key>
  void get() {
    stack_.recall(number<Key>());
  }

  void global() {
    const std::string_view module = name_line();
    push_global(module, name_line());
  }
  void stack_global();
  void push_global(std::string_view module, std::string_view name);
  void reduce();
  void build() {
    const PickleNode& state = stack_.pop();
    PickleStack::expect_outside(stack_.top());
    build_pickle_value(stack_.top(), state);
  }

  const Bytes input_;
  PickleStack& stack_;
  std::size_t at_ = 0;
  bool stopped_ = false;
};

const Machine::Opcode Machine::opcodes[] = {
    {proto_code, "PROTO", &Machine::proto},
    {0x95, "FRAME", &Machine::frame},
    {'.', "STOP", &Machine::stop},
    {'(', "MARK", &Machine::mark},
    {'0', "POP", &Machine::pop},
    {'1', "POP_MARK", &Machine::pop_mark},
    {'2', "DUP", &Machine::dup},
    {'N', "NONE", &Machine::constant<Kind::none>},
    {0x88, "NEWTRUE", &Machine::constant<Kind::boolean, 1>},
    {0x89, "NEWFALSE", &Machine::constant<Kind::boolean>},
    {'K', "BININT1", &Machine::integer<std::uint8_t>},
    {'M', "BININT2", &Machine::integer<std::uint16_t>},
    {'J', "BININT", &Machine::integer<std::int32_t>},
    {0x8a, "LONG1", &Machine::long1},
    {'U', "SHORT_BINSTRING", &Machine::string<Kind::bytes, std::uint8_t>},
    {'T', "BINSTRING", &Machine::string<Kind::bytes, std::uint32_t>},
    {'C', "SHORT_BINBYTES", &Machine::string<Kind::bytes, std::uint8_t>},
    {'B', "BINBYTES", &Machine::string<Kind::bytes, std::uint32_t>},
    {0x8e, "BINBYTES8", &Machine::string<Kind::bytes, std::uint64_t>},
    {0x96, "BYTEARRAY8", &Machine::string<Kind::bytes, std::uint64_t>},
    {0x8c, "SHORT_BINUNICODE", &Machine::string<Kind::text, std::uint8_t>},
    {'X', "BINUNICODE", &Machine::string<Kind::text, std::uint32_t>},
    {0x8d, "BINUNICODE8", &Machine::string<Kind::text, std::uint64_t>},
    {']', "EMPTY_LIST", &Machine::constant<Kind::list>},
    {'a', "APPEND", &Machine::append},
    {'e', "APPENDS", &Machine::appends},
    {'}', "EMPTY_DICT", &Machine::constant<Kind::dict>},
    {'s', "SETITEM", &Machine::setitem},
    {'u', "SETITEMS", &Machine::setitems},
    {')', "EMPTY_TUPLE", &Machine::constant<Kind::tuple>},
    {'t', "TUPLE", &Machine::tuple},
    {0x85, "TUPLE1", &Machine::short_tuple<1>},
    {0x86, "TUPLE2", &Machine::short_tuple<2>},
    {0x87, "TUPLE3", &Machine::short_tuple<3>},
    {'q', "BINPUT", &Machine::put<std::uint8_t>},
    {'r', "LONG_BINPUT", &Machine::put<std::uint32_t>},
    {0x94, "MEMOIZE", &Machine::memoize},
    {'h', "BINGET", &Machine::get<std::uint8_t>},
    {'j', "LONG_BINGET", &Machine::get<std::uint32_t>},
    {'c', "GLOBAL", &Machine::global},
    {0x93, "STACK_GLOBAL", &Machine::stack_global},
    {'R', "REDUCE", &Machine::reduce},
    {'b', "BUILD", &Machine::build},
    // They make objects, fetch things from elsewhere, or belong to protocols 0 and 1.
    {'F', "FLOAT", nullptr},
    {'G', "BINFLOAT", nullptr},
    {'I', "INT", nullptr},
    {'L', "LONG", nullptr},
    {'P', "PERSID", nullptr},
    {'Q', "BINPERSID", nullptr},
    {'S', "STRING", nullptr},
    {'V', "UNICODE", nullptr},
    {'d', "DICT", nullptr},
    {'g', "GET", nullptr},
    {'i', "INST", nullptr},
    {'l', "LIST", nullptr},
    {'o', "OBJ", nullptr},
    {'p', "PUT", nullptr},
    {0x81, "NEWOBJ", nullptr},
    {0x82, "EXT1", nullptr},
    {0x83, "EXT2", nullptr},
    {0x84, "EXT4", nullptr},
    {0x8b, "LONG4", nullptr},
    {0x8f, "EMPTY_SET", nullptr},
    {0x90, "ADDITEMS", nullptr},
    {0x91, "FROZENSET", nullptr},
    {0x92, "NEWOBJ_EX", nullptr},
    {0x97, "NEXT_BUFFER", nullptr},
    {0x98, "READONLY_BUFFER", nullptr},
};

std::array<const Machine::Opcode*, 256> Machine::opcodes_by_code() {
  std::array<const Opcode*, 256> table{};
  for (const Opcode& opcode : opcodes) table[opcode.code] = &opcode;
  return table;
}

void Machine::long1() {
  const Bytes bytes = take(number<std::uint8_t>());
  if (bytes.size() > 8) throw Error(join("an integer of ", bytes.size(), " bytes; 8 at most"));
  std::uint64_t value = 0;  // its bytes at the top, so that shifting them down spreads the sign
  for (const std::byte byte : bytes)
    value = value >> 8 | std::to_integer<std::uint64_t>(byte) << 56;
  const auto unused = static_cast<unsigned>(64 - 8 * bytes.size());
  stack_.push_new(Kind::integer).number =
      bytes.empty() ? 0 : static_cast<std::int64_t>(value) >> unused;
}

void Machine::stack_global() {
  const PickleNode& name = stack_.pop();
  const PickleNode& module = stack_.pop();
  if (name.kind != Kind::text || module.kind != Kind::text) throw Error("finds no names");
  push_global(as_text(module.data), as_text(name.data));
}

void Machine::push_global(std::string_view module, std::string_view name) {
  const auto global = find_pickle_global(module, name);
  if (!global) {
    throw Error(join(printable(module), ".", printable(name),
                     " is not one of the names that plain arrays need; it was not run"));
  }
  stack_.push_new(Kind::global).number = static_cast<std::int64_t>(*global);
}

void Machine::reduce() {
  const PickleNode& arguments = stack_.pop();
  const PickleNode& function = stack_.pop();
  if (function.kind != Kind::global || arguments.kind != Kind::tuple) {
    throw Error(join("calls ", kind_name(function.kind), " with ", kind_name(arguments.kind)));
  }
  call_pickle_global(static_cast<PickleGlobal>(function.number), arguments,
                     stack_.push_new(Kind::none), stack_.owned());
  stack_.keep_owned();
}

const PickleValue& Machine::run() {
  static const std::array<const Opcode*, 256> by_code = opcodes_by_code();
  take(2);  // PROTO and its number, which starts() has seen
  while (!stopped_) {
    const std::size_t start = at_;
    if (start == input_.size()) throw Error(join("the pickle is cut off at byte ", start));
    const auto code = number<std::uint8_t>();
    const Opcode* opcode = by_code[code];
    const auto place = [&] {
      return join("byte ", start, " of the pickle, ",
                  opcode != nullptr ? opcode->name : join("opcode ", hex({&input_[start], 1})),
                  ": ");
    };
    if (opcode == nullptr || opcode->action == nullptr) {
      throw Error(join(place(), "refused: plain values and arrays have no need of it"));
    }
    try {
      (this->*opcode->action)();
    } catch (const Error& error) {
      throw Error(place() + error.what());
    }
  }
  if (at_ != input_.size()) {
    throw Error(join(input_.size() - at_, " bytes follow the pickle's end at byte ", at_));
  }
  return stack_.finish();
}

}  // namespace

Pickle::Pickle(Bytes input) : stack_(std::make_unique<PickleStack>(input.size())) {
  if (!starts(input)) {
    throw Error(join("is no pickle of protocol ", first_protocol, " to ", last_protocol,
                     ": it starts with ",
                     hex(input.first(std::min<std::size_t>(input.size(), 4)))));
  }
  value_ = &Machine(input, *stack_).run();
}

Pickle::~Pickle() = default;
Pickle::Pickle(Pickle&&) noexcept = default;
Pickle& Pickle::operator=(Pickle&&) noexcept = default;

bool Pickle::starts(Bytes input) {
  if (input.size() < 2 || input[0] != std::byte{proto_code}) return false;
  const auto protocol = std::to_integer<unsigned>(input[1]);
  return protocol >= first_protocol && protocol <= last_protocol;
}

}  // namespace feedrate::formats
