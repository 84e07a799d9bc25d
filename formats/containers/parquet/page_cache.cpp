#include "formats/containers/parquet/page_cache.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace feedrate::formats {
namespace {

constexpr std::size_t max_pages = 64;
constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;

}  // namespace

std::shared_ptr<const ParquetPageCache::Page> ParquetPageCache::get(
    const void* key, const std::function<void(Page&)>& unpack) {
  if (auto found = find(key)) return found;
  std::shared_ptr<Page> page = unused();
  unpack(*page);
  keep(key, page);
  return page;
}

std::shared_ptr<const ParquetPageCache::Page> ParquetPageCache::find(const void* key) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(entries_, key, &Entry::key);
  if (found == entries_.end()) return nullptr;
  found->used = ++calls_;
  return found->page;
}

// Memory that was touched before is faster than new memory.
std::shared_ptr<ParquetPageCache::Page> ParquetPageCache::unused() {
  std::shared_ptr<Page> page;
  {
    const std::scoped_lock lock(mutex_);
    page = std::exchange(spare_, nullptr);
  }
  // Nobody else can get it any more, so 1 stays 1; the fence orders it behind the last reader.
  if (page == nullptr || page.use_count() != 1) return std::make_shared<Page>();
  std::atomic_thread_fence(std::memory_order_acquire);
  page->values.clear();
  return page;
}

void ParquetPageCache::keep(const void* key, const std::shared_ptr<Page>& page) {
  const std::uint64_t size = page->memory.size();
  const std::scoped_lock lock(mutex_);
  const bool there = std::ranges::find(entries_, key, &Entry::key) != entries_.end();
  if (there || size > max_bytes) return;
  while (entries_.size() == max_pages || bytes_ + size > max_bytes) {
    const auto oldest = std::ranges::min_element(entries_, {}, &Entry::used);
    bytes_ -= oldest->page->memory.size();
    spare_ = std::move(oldest->page);
    entries_.erase(oldest);
  }
  entries_.push_back({key, page, ++calls_});
  bytes_ += size;
}

}  // namespace feedrate::formats
