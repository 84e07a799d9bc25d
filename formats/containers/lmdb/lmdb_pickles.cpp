// The dialect of Efficient-PyTorch's folder2lmdb: a value is the pickle of (image, label), where a
// DataLoader may have wrapped either one in a list or an array of one. Keys are "0", "1", … and
// their order is that of the numbers; "__keys__" and "__len__" hold no samples.

#include <functional>
#include <optional>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/containers/lmdb/lmdb_dialect.h"
#include "formats/pickle/pickle.h"

namespace feedrate::formats {
namespace {

using Kind = PickleValue::Kind;

bool is_sequence(const PickleValue& value) {
  return value.kind == Kind::list || value.kind == Kind::tuple;
}

// What is inside a list or tuple of one, else the value itself.
const PickleValue& unwrapped(const PickleValue& value) {
  return is_sequence(value) && value.items.size() == 1 ? *value.items.front() : value;
}

Bytes image_in(const PickleValue& value) {
  const PickleValue& image = unwrapped(value);
  if (image.kind == Kind::bytes) return image.data;
  throw Error(join("the pickled image is ", kind_name(image.kind), ", expected the file's bytes"));
}

std::int32_t label_in(const PickleValue& value) {
  const PickleValue& label = unwrapped(value);
  std::optional<std::int64_t> number;
  if (label.kind == Kind::integer) number = label.number;
  if (label.kind == Kind::array && label.array->kind != 'f' && label.array->count() == 1) {
    number = label.array->integer(0);
  }
  if (number && std::in_range<std::int32_t>(*number)) return static_cast<std::int32_t>(*number);
  throw Error(join("the pickled label is ", kind_name(label.kind), ", expected a class number"));
}

class PicklesDialect final : public LmdbDialect {
 public:
  bool knows(Bytes value) const override { return Pickle::starts(value); }

  std::string_view name(std::string_view) const override { return {}; }

  Sample read(const LmdbItem& item, Scratch& scratch) const override {
    const Pickle pickle(item.value);
    const PickleValue& pair = pickle.value();
    if (!is_sequence(pair) || pair.items.size() != 2) {
      throw Error(join("the pickle holds ", kind_name(pair.kind), ", expected (image, label)"));
    }
    Sample sample;
    sample.label = label_in(*pair.items[1]);
    sample.bytes = image_in(*pair.items[0]);
    // Protocol 2 keeps bytes as text, which the pickle had to turn back: they go with it.
    const std::less<const std::byte*> before;
    const std::byte* const begin = item.value.data();
    const std::byte* const end = begin + item.value.size();
    if (before(sample.bytes.data(), begin) || before(end, sample.bytes.data())) {
      scratch.bytes.assign(sample.bytes.begin(), sample.bytes.end());
      sample.bytes = scratch.bytes;
    }
    return sample;
  }

  void arrange(Bytes file, std::vector<LmdbEntry>& entries) const override {
    std::optional<std::int64_t> stated;
    std::erase_if(entries, [&](const LmdbEntry& entry) {
      const LmdbItem item = lmdb_item(file, entry);
      if (item.key == "__len__") stated = Pickle(item.value).value().number;
      return item.key == "__len__" || item.key == "__keys__";
    });
    if (stated && *stated != static_cast<std::int64_t>(entries.size())) {
      throw Error(join("__len__ states ", *stated, " samples, found ", entries.size()));
    }
    std::vector<LmdbEntry> arranged(entries.size());
    for (const LmdbEntry& entry : entries) {
      const std::string_view key = lmdb_item(file, entry).key;
      const auto number = parse_number<std::uint64_t>(key);
      if (!number || *number >= entries.size() || arranged[*number].key_size != 0) {
        throw Error(join("pickles should have the keys 0 to ", entries.size() - 1,
                         ", but there is a key '", key, "'"));
      }
      arranged[*number] = entry;
    }
    entries = std::move(arranged);
  }
};

const PicklesDialect row;

}  // namespace

const LmdbDialect& lmdb_pickles_dialect = row;

}  // namespace feedrate::formats
