// CIFAR's files: u8 that selects set, packaging and kind of file (batch or names), then the file.

#include "converters/cifar/cifar_batch.h"
#include "tests/converters/make_cifar.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;
using namespace converters;

namespace {

enum Choice : unsigned { hundred = 1, python = 2, names = 4 };

Buffer input(unsigned choice, std::string_view file) {
  const auto first = static_cast<std::byte>(choice);
  return joined({Bytes(&first, 1), as_bytes(file)});
}

void check_batch(const CifarLayout& layout, CifarPackaging named, const Buffer& file) {
  accepts([&] {
    const CifarBatch batch(layout, named, file, "place");
    require(batch.count() > 0, "a batch that is read holds images");
    unsigned sum = 0;
    for (std::uint64_t i = 0; i < batch.count(); ++i) {
      require(batch.label(i) >= 0 && batch.label(i) < static_cast<std::int32_t>(layout.classes),
              "a label is one of the classes");
      require(batch.all_labels(i).size() == (layout.coarse_classes != 0 ? 2 : 0),
              "an image has all of its labels");
      for (const std::byte pixel : batch.pixels(i)) sum += std::to_integer<unsigned>(pixel);
    }
    require(sum <= 255 * cifar_image_bytes * batch.count(), "pixels can be read");
  });
}

std::string class_names(std::size_t count) {
  std::string lines;
  for (std::size_t i = 0; i < count; ++i) lines += "c\n";
  return lines;
}

}  // namespace

std::vector<Buffer> seeds() {
  using namespace testing;
  const std::string ten = cifar_batch(cifar10_layout, 1, 1);
  const std::string one_hundred = cifar_batch(cifar100_layout, 1, 2);
  return {input(0, ten),
          input(hundred, one_hundred),
          input(python, pickled_batch(cifar10_layout, ten)),
          input(hundred | python, pickled_batch(cifar100_layout, one_hundred)),
          input(names, class_names(cifar10_layout.classes)),
          input(names | hundred, class_names(cifar100_layout.classes))};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::converters;
  using namespace feedrate::fuzz;
  if (size == 0) return 0;
  const CifarLayout& layout = (data[0] & hundred) != 0 ? cifar100_layout : cifar10_layout;
  const auto named = (data[0] & python) != 0 ? CifarPackaging::python : CifarPackaging::binary;
  const Buffer file = buffer(fenced(data + 1, size - 1));
  if ((data[0] & names) == 0) {
    check_batch(layout, named, file);
    return 0;
  }
  accepts([&] {
    require(read_cifar_names(layout, named, file, "place").size() == layout.classes,
            "every class has a name");
  });
  return 0;
}
