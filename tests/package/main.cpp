// Reads a dataset through the installed library: prints "<samples> <batches> <first label>".
#include <cstdio>

#include "formats/dataset.h"
#include "loader/loader.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto dataset = feedrate::formats::open_dataset(argv[1]);
  feedrate::loader::LoaderOptions options;
  options.shuffle = false;
  feedrate::loader::Loader loader(*dataset, feedrate::loader::recipe("none"), options);
  int batches = 0;
  int first = -1;
  while (const feedrate::loader::Batch* batch = loader.next()) {
    if (batches++ == 0) first = batch->labels[0];
  }
  std::printf("%zu %d %d\n", static_cast<std::size_t>(dataset->size()), batches, first);
}
