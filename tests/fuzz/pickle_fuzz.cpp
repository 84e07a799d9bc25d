// Python's pickle.

#include <unordered_set>

#include "converters/cifar/pickle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/from_hex.h"
#include "tests/support/pickles.h"

namespace feedrate::fuzz {
using namespace converters;
using namespace formats;

namespace {

using Kind = PickleValue::Kind;

void check_array(const PickleArray& array) {
  std::uint64_t items = 1;
  for (const std::uint64_t side : array.shape) {
    const auto product = checked_multiply(items, side);
    require(product.has_value(), "the items of an array can be counted");
    items = *product;
  }
  require(array.item_bytes != 0 && array.count() == items &&
              array.data.size() == items * array.item_bytes,
          "an array has as many bytes as its shape says");
  const auto limit =
      array.item_bytes == 8 ? std::int64_t{0} : std::int64_t{1} << 8 * array.item_bytes;
  for (std::uint64_t i = 0; i < items; ++i) {
    const std::int64_t item = array.integer(i);
    require(limit == 0 || (item < limit && item >= -limit),
            "an item has as many bits as it is stored in");
  }
}

void check(const PickleValue& value) {
  require(!kind_name(value.kind).empty(), "every kind of value has a name");
  if (value.kind == Kind::bytes || value.kind == Kind::text) {
    std::size_t sum = 0;
    for (const std::byte byte : value.data) sum += std::to_integer<unsigned>(byte);
    require(sum <= 255 * value.data.size(), "bytes can be read");
  }
  if (value.kind == Kind::array) {
    require(value.array != nullptr, "an array is there");
    check_array(*value.array);
  }
  if (value.kind == Kind::dict) require(value.items.size() % 2 == 0, "a dict has pairs");
  value.find("data");
}

// Each value once: they are shared, and the ways to them can be too many to walk, or endless.
void check_all(const PickleValue& first) {
  std::vector<const PickleValue*> found{&first};
  std::unordered_set<const PickleValue*> seen{&first};
  while (!found.empty()) {
    const PickleValue& value = *found.back();
    found.pop_back();
    check(value);
    for (const PickleValue* item : value.items) {
      require(item != nullptr, "no value is missing");
      if (seen.insert(item).second) found.push_back(item);
    }
  }
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const auto& pickled : testing::pickled_values)
    all.push_back(buffer(testing::from_hex(pickled.hex)));
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate;
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Bytes input = fenced(data, size);
  accepts([&] {
    const Pickle pickle(input);
    require(Pickle::starts(input), "what can be read is known by its start");
    check_all(pickle.value());
  });
  return 0;
}
