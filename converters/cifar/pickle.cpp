#include "converters/cifar/pickle.h"

#include <algorithm>
#include <string>

#include "converters/cifar/pickle_globals.h"
#include "converters/cifar/pickle_stack.h"
#include "formats/base/error.h"
#include "formats/digests/digest.h"

namespace feedrate::converters {
using namespace formats;
namespace {

using Kind = PickleValue::Kind;
using OwnedItems = PickleStack::Items;

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
  Machine(Bytes input, std::deque<PickleValue>& values, std::vector<Buffer>& texts)
      : input_(input), stack_(values), texts_(texts) {}

  const PickleValue& run();

 private:
  struct Opcode {
    unsigned char code;
    std::string_view name;  // Python's
    void (Machine::*action)();
  };
  static const Opcode opcodes[];

  void step();

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

  void frame() { take(sizeof(std::uint64_t)); }  // how far to read at once; it is all in memory
  void stop() { stopped_ = true; }
  void mark() { stack_.push_mark(); }

  template <Kind kind, int value = 0>
  void constant() {
    stack_.push_new(kind).number = value;
  }
  template <class T>
  void integer() {
    const T value = number<T>();
    stack_.push_new(Kind::integer).number = value;
  }
  template <Kind kind, class Length>
  void string() {
    const Bytes bytes = take(number<Length>());
    stack_.push_new(kind).data = bytes;
  }

  template <Kind kind>
  void put_in(const OwnedItems& items) {
    PickleValue& container = stack_.top();
    if (container.kind != kind) {
      throw Error(join("expects ", kind_name(kind), ", finds ", kind_name(container.kind)));
    }
    container.items.insert(container.items.end(), items.begin(), items.end());
  }
  void append() { put_in<Kind::list>(stack_.pop(1)); }
  void appends() { put_in<Kind::list>(stack_.pop_to_mark()); }
  void setitem() { put_in<Kind::dict>(stack_.pop(2)); }
  void setitems() {
    const OwnedItems items = stack_.pop_to_mark();
    if (items.size() % 2 != 0) throw Error("gives a dict a key without a value");
    put_in<Kind::dict>(items);
  }
  void tuple() {
    OwnedItems items = stack_.pop_to_mark();
    stack_.push_new(Kind::tuple).items = std::move(items);
  }
  template <std::size_t count>
  void short_tuple() {
    OwnedItems items = stack_.pop(count);
    stack_.push_new(Kind::tuple).items = std::move(items);
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
    const PickleValue& state = stack_.pop();
    build_pickle_value(stack_.top(), state);
  }

  const Bytes input_;
  PickleStack stack_;
  std::vector<Buffer>& texts_;
  std::size_t texts_bytes_ = 0;
  std::size_t at_ = 0;
  bool stopped_ = false;
};

// What pickles of CIFAR's batches use, each by at least one protocol.
const Machine::Opcode Machine::opcodes[] = {
    {0x95, "FRAME", &Machine::frame},
    {'.', "STOP", &Machine::stop},
    {'(', "MARK", &Machine::mark},
    {'N', "NONE", &Machine::constant<Kind::none>},
    {0x88, "NEWTRUE", &Machine::constant<Kind::boolean, 1>},
    {0x89, "NEWFALSE", &Machine::constant<Kind::boolean>},
    {'K', "BININT1", &Machine::integer<std::uint8_t>},
    {'M', "BININT2", &Machine::integer<std::uint16_t>},
    {'J', "BININT", &Machine::integer<std::int32_t>},
    {'U', "SHORT_BINSTRING", &Machine::string<Kind::bytes, std::uint8_t>},
    {'T', "BINSTRING", &Machine::string<Kind::bytes, std::uint32_t>},
    {'C', "SHORT_BINBYTES", &Machine::string<Kind::bytes, std::uint8_t>},
    {'B', "BINBYTES", &Machine::string<Kind::bytes, std::uint32_t>},
    {0x96, "BYTEARRAY8", &Machine::string<Kind::bytes, std::uint64_t>},
    {0x8c, "SHORT_BINUNICODE", &Machine::string<Kind::text, std::uint8_t>},
    {'X', "BINUNICODE", &Machine::string<Kind::text, std::uint32_t>},
    {']', "EMPTY_LIST", &Machine::constant<Kind::list>},
    {'a', "APPEND", &Machine::append},
    {'e', "APPENDS", &Machine::appends},
    {'}', "EMPTY_DICT", &Machine::constant<Kind::dict>},
    {'s', "SETITEM", &Machine::setitem},
    {'u', "SETITEMS", &Machine::setitems},
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
};

void Machine::stack_global() {
  const PickleValue& name = stack_.pop();
  const PickleValue& module = stack_.pop();
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
  const PickleValue& arguments = stack_.pop();
  const PickleValue& function = stack_.pop();
  if (function.kind != Kind::global || arguments.kind != Kind::tuple) {
    throw Error(join("calls ", kind_name(function.kind), " with ", kind_name(arguments.kind)));
  }
  Buffer& text = texts_.emplace_back();
  call_pickle_global(static_cast<PickleGlobal>(function.number), arguments,
                     stack_.push_new(Kind::none), text);
  // A text converted once is never longer than the input; one converted again and again can be.
  texts_bytes_ += text.size();
  if (texts_bytes_ > input_.size()) throw Error("converts the same text again and again");
}

void Machine::step() {
  const std::size_t start = at_;
  if (start == input_.size()) throw Error(join("the pickle is cut off at byte ", start));
  const auto code = number<std::uint8_t>();
  const auto* const opcode = std::ranges::find(opcodes, code, &Opcode::code);
  if (opcode == std::end(opcodes)) {
    throw Error(join("byte ", start, " of the pickle, opcode ", hex({&input_[start], 1}),
                     ": refused: CIFAR's batches have no need of it"));
  }
  try {
    (this->*opcode->action)();
  } catch (const Error& error) {
    throw Error(join("byte ", start, " of the pickle, ", opcode->name, ": ", error.what()));
  }
}

const PickleValue& Machine::run() {
  take(2);  // PROTO and its number, which starts() has seen
  while (!stopped_) step();
  if (at_ != input_.size()) {
    throw Error(join(input_.size() - at_, " bytes follow the pickle's end at byte ", at_));
  }
  return stack_.last();
}

}  // namespace

Pickle::Pickle(Bytes input) {
  if (!starts(input)) {
    throw Error(join("is no pickle of protocol ", first_protocol, " to ", last_protocol,
                     ": it starts with ",
                     hex(input.first(std::min<std::size_t>(input.size(), 4)))));
  }
  value_ = &Machine(input, values_, texts_).run();
}

bool Pickle::starts(Bytes input) {
  if (input.size() < 2 || input[0] != std::byte{proto_code}) return false;
  const auto protocol = std::to_integer<unsigned>(input[1]);
  return protocol >= first_protocol && protocol <= last_protocol;
}

}  // namespace feedrate::converters
