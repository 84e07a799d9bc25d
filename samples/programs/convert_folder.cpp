// convert_folder FOLDER OUT: a directory of classes, one folder of images each, becomes RecordIO.

#include <cstdio>
#include <filesystem>

#include "converters/convert.h"
#include "formats/base/error.h"

using namespace feedrate;

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: convert_folder FOLDER OUT\n");
    return 2;
  }
  try {
    const std::filesystem::path folder = words[1];
    const converters::Source& source = converters::source("folder");
    const std::string split = source.splits({&folder, 1}).front();
    const converters::Conversion done = converters::convert_dataset(
        source, {&folder, 1}, {formats::container("recordio"), words[2], split}, {.threads = 2});
    std::printf("%llu images, %llu bytes\n", static_cast<unsigned long long>(done.samples),
                static_cast<unsigned long long>(done.bytes));
  } catch (const formats::Error& error) {  // names the file, the entry, expected and found
    std::fprintf(stderr, "convert_folder: %s\n", error.what());
    return 1;
  }
}
