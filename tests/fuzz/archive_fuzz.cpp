// Archives: tars (also nested), zips and single files. Entries are read; for those that lie in
// memory, the view must show the same bytes.

#include <algorithm>
#include <optional>

#include "converters/archive.h"
#include "formats/io/file.h"
#include "formats/io/tar_writer.h"
#include "tests/converters/make_archive.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;
using namespace converters;

namespace {

constexpr unsigned deepest = 3;
constexpr unsigned max_entries = 64;  // on each level
constexpr std::size_t max_bytes = std::size_t{1} << 16;

void walk(Archive& archive, unsigned level) {
  for (unsigned i = 0; i < max_entries && archive.next(); ++i) {
    require(!archive.place().empty(), "every entry has a place");
    const std::optional<Bytes> view = archive.view();
    if (view && !archive.single()) {
      require(view->size() == archive.size(), "a view has the size that the archive states");
    }
    if (level < deepest && archive.name().ends_with(".tar")) {
      Archive inner(archive);
      walk(inner, level + 1);
      continue;
    }
    Buffer start(std::min<std::size_t>(archive.size() + 1, max_bytes));
    start.resize(archive.read(start));
    if (view) {
      require(same(start, view->first(std::min(view->size(), start.size()))) &&
                  (start.size() == max_bytes || start.size() == view->size()),
              "a view shows what reading gives");
    }
  }
}

}  // namespace

std::vector<Buffer> seeds() {
  using testing::Packing;
  const testing::Entries files = {{"a.txt", "content"}, {"dir/b", std::string(600, 'b')}};
  const std::string inner = testing::tar(files);
  std::vector<Buffer> all = {buffer(inner), buffer(testing::tar({{"in.tar", inner}, {"c", "c"}}))};
  for (const Packing packing : {Packing{ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE},
                                Packing{ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_NONE},
                                Packing{ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_GZIP},
                                Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_BZIP2},
                                Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ},
                                Packing{ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD}}) {
    all.push_back(buffer(testing::make_archive(files, packing)));
  }
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  const auto path = file_of(fenced(data, size), "input");
  accepts([&] {
    feedrate::converters::Archive archive(path);
    walk(archive, 0);
  });
  return 0;
}
