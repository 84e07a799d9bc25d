#include "converters/cifar/pickle.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"
#include "tests/support/from_hex.h"
#include "tests/support/pickles.h"

namespace feedrate::converters {
namespace {

using namespace formats;
using namespace feedrate::testing;
using namespace std::string_literals;
using namespace std::string_view_literals;
using Kind = PickleValue::Kind;

const std::string proto("\x80\x02", 2);

void expect_refused(const std::string& pickle, std::initializer_list<std::string_view> parts) {
  expect_error([&] { Pickle read(as_bytes(pickle)); }, parts);
}

std::vector<std::int64_t> numbers(const PickleValue& list) {
  std::vector<std::int64_t> all;
  for (const PickleValue* item : list.items) all.push_back(item->number);
  return all;
}

std::vector<std::int64_t> numbers(const PickleArray& array) {
  std::vector<std::int64_t> all;
  for (std::uint64_t i = 0; i < array.count(); ++i) all.push_back(array.integer(i));
  return all;
}

class UnitPickle : public ::testing::TestWithParam<PickledValues> {
 protected:
  const PickleValue& at(std::string_view key) {
    const PickleValue* value = pickle_.value().find(key);
    if (value == nullptr) throw Error(join("no ", key));
    return *value;
  }
  const PickleArray& array(std::string_view key) { return *at(key).array; }

 private:
  std::string bytes_ = from_hex(GetParam().hex);
  Pickle pickle_{as_bytes(bytes_)};
};

TEST_P(UnitPickle, plain_values_come_back) {
  EXPECT_EQ(at("none").kind, Kind::none);
  EXPECT_EQ(at("bools").items[0]->kind, Kind::boolean);
  EXPECT_EQ(numbers(at("bools")), (std::vector<std::int64_t>{1, 0}));
  using Limits = std::numeric_limits<std::int32_t>;
  EXPECT_EQ(numbers(at("integers")), (std::vector<std::int64_t>{0, 255, 256, 65535, 65536, -1,
                                                                Limits::min(), Limits::max()}));
  EXPECT_EQ(at("bytes").kind, Kind::bytes);
  EXPECT_EQ(hex(at("bytes").data), "007f80ff");
  EXPECT_EQ(as_text(at("long bytes").data), std::string(257, '\0'));
  EXPECT_EQ(at("text").kind, Kind::text);
  EXPECT_EQ(as_text(at("text").data), "h\xc3\xa9");
}

TEST_P(UnitPickle, tuples_of_every_length_come_back) {
  const PickleValue& tuples = at("tuples");
  ASSERT_EQ(tuples.items.size(), 4U);
  std::vector<std::int64_t> expected;
  for (const PickleValue* tuple : tuples.items) {
    expected.push_back(static_cast<std::int64_t>(expected.size()) + 1);
    EXPECT_EQ(tuple->kind, Kind::tuple);
    EXPECT_EQ(numbers(*tuple), expected);
  }
}

TEST_P(UnitPickle, what_is_remembered_is_shared_not_copied) {
  const PickleValue& shared = at("shared");
  ASSERT_EQ(shared.items.size(), 2U);
  EXPECT_EQ(shared.items[0], shared.items[1]);
}

TEST_P(UnitPickle, arrays_come_back_as_views) {
  const PickleArray& pixels = array("pixels");
  EXPECT_EQ(pixels.kind, 'u');
  EXPECT_EQ(pixels.shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(hex(pixels.data), "000102030405");
  EXPECT_EQ(numbers(array("labels")), (std::vector<std::int64_t>{3, -1, 300}));
}

TEST_P(UnitPickle, other_values_say_what_they_are) {
  EXPECT_EQ(at("none").find("none"), nullptr);
  EXPECT_EQ(kind_name(at("pixels").kind), "an array");
}

// Whatever byte is wrong: either it still is a pickle of plain values, or an Error says where not.
class HostilePickle : public ::testing::TestWithParam<PickledValues> {};

TEST_P(HostilePickle, every_cut_is_an_error) {
  const std::string whole = from_hex(GetParam().hex);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_refused(whole.substr(0, size), {"pickle"});
  }
}

TEST_P(HostilePickle, every_flipped_bit_is_read_or_refused) {
  const std::string whole = from_hex(GetParam().hex);
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    try {
      EXPECT_EQ(Pickle(as_bytes(damaged)).value().kind, Kind::dict);
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, whole.size());
}

const auto protocol_name = [](const auto& info) {
  return "protocol_" + std::to_string(info.param.protocol);
};
INSTANTIATE_TEST_SUITE_P(, UnitPickle, ::testing::ValuesIn(pickled_values), protocol_name);
INSTANTIATE_TEST_SUITE_P(, HostilePickle, ::testing::ValuesIn(pickled_values), protocol_name);

TEST(UnitPickles, python_2s_strings_are_bytes_and_keys) {
  // pickle.dumps({'labels': [1]}, 2) by Python 2.7's cPickle, which counts its memo from 1.
  const std::string bytes = from_hex("80027d710155066c6162656c7371025d71034b016173") + ".";
  const Pickle pickle(as_bytes(bytes));
  ASSERT_NE(pickle.value().find("labels"), nullptr);
  EXPECT_EQ(numbers(*pickle.value().find("labels")), std::vector<std::int64_t>{1});
  EXPECT_EQ(pickle.value().find("label"), nullptr);
}

TEST(UnitPickles, of_a_key_given_twice_the_last_value_counts) {
  const std::string bytes = proto + "}(U\x01"s + "aK\x01U\x01"s + "aK\x02u.";
  const Pickle pickle(as_bytes(bytes));
  EXPECT_EQ(pickle.value().find("a")->number, 2);
}

TEST(UnitPickles, values_stay_where_they_are_when_the_pickle_moves) {
  const std::string bytes = proto + "](K\x07K\x08" + "e.";
  Pickle first(as_bytes(bytes));
  const Pickle second = std::move(first);
  EXPECT_EQ(numbers(second.value()), (std::vector<std::int64_t>{7, 8}));
}

TEST(HostilePickles, other_functions_are_refused_by_name_and_byte) {
  expect_refused(proto + "cos\nsystem\n(U\x08" + "rm -rf /tR.",
                 {"byte 2 of the pickle", "GLOBAL", "os.system", "not run"});
  expect_refused("\x80\x04\x8c\x02os\x8c\x06system\x93."s,
                 {"byte 14 of the pickle", "STACK_GLOBAL", "os.system"});
  expect_refused(proto + "cnumpy.core.multiarray\nscalar\n.", {"numpy.core.multiarray.scalar"});
  expect_refused(proto + "c\x1b[2J\nx\n.", {"?[2J.x"});
  expect_refused(proto + "c" + std::string(300, 'a') + "\nb\n.", {"GLOBAL", "no end"});
}

TEST(HostilePickles, other_opcodes_are_refused_by_code_and_byte) {
  // Those that make objects, fetch things from elsewhere or belong to other protocols.
  for (const char code : "ioPQG\x80\x81\x82\x91\x92\x97\xff"sv) {
    expect_refused(proto + "N" + code,
                   {"byte 3 of the pickle", "opcode " + hex(as_bytes({&code, 1})), "refused"});
  }
}

TEST(HostilePickles, what_is_no_pickle_of_these_protocols_says_how_it_starts) {
  expect_refused("(dp0\n.", {"no pickle of protocol 2 to 5", "28647030"});
  expect_refused("\x80\x06N.", {"no pickle of protocol 2 to 5", "80064e2e"});
  expect_refused("", {"no pickle"});
  EXPECT_FALSE(Pickle::starts(as_bytes("\x80\x01")));
  EXPECT_TRUE(Pickle::starts(as_bytes("\x80\x05")));
}

TEST(HostilePickles, a_length_beyond_the_end_is_not_believed) {
  expect_refused(proto + "T\xff\xff\xff\x7f" + "abc.", {"BINSTRING", "2147483647 bytes", "4 do"});
  expect_refused(proto + "\x96\xff\xff\xff\xff\xff\xff\xff\xff.", {"BYTEARRAY8", "cut off"});
  expect_refused(proto + "\x95\xff.", {"FRAME", "8 bytes should follow, 2 do"});
}

TEST(HostilePickles, the_stack_and_its_marks_are_guarded) {
  expect_refused(proto + "a.", {"APPEND", "needs a value"});
  expect_refused(proto + "](a.", {"APPEND", "needs a value"});
  expect_refused(proto + "]e.", {"APPENDS", "needs a mark"});
  expect_refused(proto + "KxKxa.", {"APPEND", "expects a list, finds an integer"});
  expect_refused(proto + "}(Nu.", {"SETITEMS", "without a value"});
  expect_refused(proto + "NN.", {"leaves 2 values"});
  expect_refused(proto + "N(.", {"leaves 2 values and marks"});
  expect_refused(proto + "(.", {"leaves 1 values and marks"});
  expect_refused(proto + ".", {"leaves 0 values"});
  expect_refused(proto + "N.N.", {"2 bytes follow", "byte 4"});
}

TEST(HostilePickles, the_memo_is_guarded) {
  expect_refused(proto + "h\x05.", {"BINGET", "number 5", "never remembered"});
  expect_refused(proto + "Nr\xff\xff\xff\x7f.", {"LONG_BINPUT", "number 2147483647"});
  expect_refused(proto + "q\x01.", {"BINPUT", "needs a value"});
}

// Nothing here walks over values, so neither depth nor a circle does harm.
TEST(HostilePickles, values_may_be_deep_and_hold_themselves) {
  const std::string deep = proto + "N" + std::string(100'000, '\x85') + ".";
  EXPECT_EQ(Pickle(as_bytes(deep)).value().items.size(), 1U);
  const std::string circle = proto + "]q\x01h\x01" + "a.";
  const Pickle pickle(as_bytes(circle));
  EXPECT_EQ(pickle.value().items, std::vector<const PickleValue*>{&pickle.value()});
}

TEST(HostilePickles, their_number_is_bounded) {
  expect_refused(proto + std::string((1 << 20) + 1, 'N') + ".", {"NONE", "1048576 values"});
  expect_refused(proto + std::string((1 << 20) + 1, '(') + ".", {"MARK", "1048576 values"});
}

// Ten values in every list of ten lists …: a tree of 10^20, here twenty lists that share.
TEST(HostilePickles, a_billion_laughs_take_no_memory) {
  std::string bytes = proto + "(N";
  for (int level = 0; level < 20; ++level) {
    bytes += "q\x01](";
    for (int i = 0; i < 10; ++i) bytes += "h\x01";
    bytes += "e";
  }
  bytes += "t.";
  const Pickle pickle(as_bytes(bytes));
  EXPECT_EQ(pickle.value().items.back()->items.size(), 10U);
}

// _codecs.encode is the one call that makes new bytes.
TEST(HostilePickles, a_text_converted_again_and_again_is_refused) {
  std::string bytes = proto + "c_codecs\nencode\nq\x01X\xe8\x03\0\0"s + std::string(1000, 'x') +
                      "q\x02U\x06latin1q\x03\x87(";
  for (int i = 0; i < 20; ++i) bytes += "h\x01h\x02h\x03\x86R";
  expect_refused(bytes + "t\x86.", {"REDUCE", "again and again"});
}

TEST(HostilePickles, arguments_other_than_numpys_are_refused) {
  const std::string dtype = "cnumpy\ndtype\nU\x02u1\x85R";
  const std::string reconstruct =
      "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\x01"s + "b\x87R";
  expect_refused(proto + "cnumpy\ndtype\nU\x02O8\x85R.", {"REDUCE", "dtype O8"});
  expect_refused(proto + "cnumpy\ndtype\nU\x02" + "f4\x85R.", {"other than integers: dtype f4"});
  expect_refused(proto + "cnumpy\ndtype\nN\x85R.", {"REDUCE", "not named by a string"});
  expect_refused(proto + "cnumpy\nndarray\n(tR.", {"ndarray is called"});
  expect_refused(proto + "N(tR.", {"REDUCE", "calls None with a tuple"});
  expect_refused(proto + "]Nb.", {"BUILD", "a list"});
  expect_refused(proto + dtype + "Nb.", {"BUILD", "dtype's state"});
  expect_refused(proto + dtype + "(K\x03U\x01|U\x01xNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb."s,
                 {"BUILD", "records"});
  expect_refused(proto + dtype + "(K\x03U\x01>NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb."s,
                 {"BUILD", "another byte order"});
  expect_refused(proto + reconstruct + "Nb.", {"BUILD", "array's state"});
  expect_refused(proto + reconstruct + "(K\x01K\x01\x85" + dtype + "\x88U\x01xtb.",
                 {"BUILD", "another order than C's"});
  // (1, (2, 3), dtype, False, bytes) with one byte too few, and with sides whose product overflows.
  const auto state = [&](const std::string& shape, const std::string& data) {
    return proto + reconstruct + "(K\x01" + shape + dtype + "\x89U" +
           static_cast<char>(data.size()) + data + "tb.";
  };
  EXPECT_EQ(Pickle(as_bytes(state("K\x02K\x03\x86", "abcdef"))).value().array->count(), 6U);
  EXPECT_EQ(Pickle(as_bytes(state("K\0K\x03\x86"s, ""))).value().array->count(), 0U);
  expect_refused(state("K\x02K\x03\x86", "abcde"), {"2x3 items of 1 bytes needs 6 bytes, found 5"});
  const std::string huge = "J\xff\xff\xff\x7f";
  expect_refused(state(huge + huge + huge + "\x87", "abcde"),
                 {"BUILD", "needs more bytes, found 5"});
  expect_refused(state("J\xff\xff\xff\xff\x85", "a"), {"other than counts"});
  expect_refused(state("N\x85", "a"), {"other than counts"});
}

}  // namespace
}  // namespace feedrate::converters
