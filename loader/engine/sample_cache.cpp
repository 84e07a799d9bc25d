#include "loader/engine/sample_cache.h"

namespace feedrate::loader {
using namespace formats;

/// A sample with memory of its own, which its views refer to.
struct SampleCache::Kept {
  explicit Kept(const Sample& from)
      : bytes(from.bytes.begin(), from.bytes.end()),
        name(from.name),
        boxes(from.boxes.begin(), from.boxes.end()),
        labels(from.labels.begin(), from.labels.end()),
        sample(from) {
    sample.bytes = bytes;
    sample.name = name;
    sample.boxes = boxes;
    sample.labels = labels;
  }

  const Buffer bytes;
  const std::string name;
  const std::vector<Box> boxes;
  const std::vector<float> labels;
  Sample sample;
};

SampleCache::SampleCache(const Dataset& from, std::uint64_t bytes)
    : from_(from), most_(bytes), slots_(std::make_unique<std::atomic<const Kept*>[]>(from.size())) {
  info_ = from.info();
}

SampleCache::~SampleCache() {
  for (std::uint64_t i = 0; i < size(); ++i) delete slots_[i].load();
}

Sample SampleCache::read(std::uint64_t index, Scratch& scratch) const {
  if (const Kept* kept = slots_[index].load(std::memory_order_acquire)) return kept->sample;
  const Sample sample = from_.read(index, scratch);
  if (full_.load(std::memory_order_relaxed)) return sample;
  const Kept* kept = keep(index, sample);
  return kept != nullptr ? kept->sample : sample;
}

bool SampleCache::look_ahead(std::uint64_t index) const {
  return slots_[index].load(std::memory_order_relaxed) != nullptr || from_.look_ahead(index);
}

// Null where there is no room.
const SampleCache::Kept* SampleCache::keep(std::uint64_t index, const Sample& sample) const {
  const std::uint64_t size = sizeof(Kept) + sample.bytes.size() + sample.name.size() +
                             sample.boxes.size_bytes() + sample.labels.size_bytes();
  if (used_.fetch_add(size) + size > most_) {
    used_.fetch_sub(size);
    full_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  auto kept = std::make_unique<const Kept>(sample);
  const Kept* mine = nullptr;
  if (slots_[index].compare_exchange_strong(mine, kept.get(), std::memory_order_acq_rel)) {
    kept_.fetch_add(1, std::memory_order_relaxed);
    return kept.release();
  }
  used_.fetch_sub(size);  // another thread was faster
  return mine;
}

}  // namespace feedrate::loader
