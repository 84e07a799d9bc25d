// iterate_loader DATASET: two epochs of shuffled batches from any format; counts the images of each
// label.

#include <cstdio>
#include <map>

#include "formats/base/error.h"
#include "formats/dataset.h"
#include "loader/loader.h"

using namespace feedrate;

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: iterate_loader DATASET\n");
    return 2;
  }
  try {
    const auto dataset = formats::open_dataset(words[1]);
    loader::Loader loader(*dataset, loader::recipe("none"),
                          {.threads = 2, .batch = 32, .epochs = 2, .start = {.seed = 1}});
    std::map<int, int> images;
    int batches = 0;
    while (const loader::Batch* batch = loader.next()) {  // pixels: u8, [count][height][width][channel]
      ++batches;
      for (std::uint32_t i = 0; i < batch->count; ++i) ++images[batch->labels[i]];
    }
    std::printf("%d batches\n", batches);
    for (const auto& [label, number] : images) std::printf("label %d: %d images\n", label, number);
  } catch (const formats::Error& error) {
    std::fprintf(stderr, "iterate_loader: %s\n", error.what());
    return 1;
  }
}
