#pragma once
// The pages of images that were unpacked last: whoever reads rows in order unpacks each page once,
// not once for each image.

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// Any thread. Keeps 64 pages at most, of 256 MiB together: one for each of as many threads.
class ParquetPageCache {
 public:
  struct Page {
    Buffer memory;
    std::vector<std::optional<Bytes>> values;  // views of `memory`, or missing
  };

  /// The page with that key; where it is not kept, unpack() fills one. What unpack() throws is passed
  /// on, and nothing is kept.
  std::shared_ptr<const Page> get(const void* key, const std::function<void(Page&)>& unpack);

 private:
  struct Entry {
    const void* key = nullptr;
    std::shared_ptr<Page> page;
    std::uint64_t used = 0;  // when: a count of calls
  };

  std::shared_ptr<const Page> find(const void* key);
  std::shared_ptr<Page> unused();
  void keep(const void* key, const std::shared_ptr<Page>& page);

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::uint64_t calls_ = 0, bytes_ = 0;
  std::shared_ptr<Page> spare_;  // pushed out last
};

}  // namespace feedrate::formats
