#include "formats/digests/sorted_digest.h"

#include <algorithm>
#include <cstring>

namespace feedrate::formats {
namespace {

// The first eight bytes nearly always decide.
bool before(const Sha256& a, const Sha256& b) {
  const auto first = load_be<std::uint64_t>(a.data()), second = load_be<std::uint64_t>(b.data());
  if (first != second) return first < second;
  return std::memcmp(a.data(), b.data(), a.size()) < 0;
}

Bytes bytes_of(std::span<const Sha256> digests) { return std::as_bytes(digests); }

}  // namespace

// Reads one run, a block at a time, into its share of the memory.
class SortedDigest::Reader {
 public:
  Reader(const NamelessFile& file, const Run& run, std::span<Sha256> block)
      : file_(&file), run_(run), block_(block) {
    fill();
  }

  bool ended() const { return at_ == filled_; }
  const Sha256& front() const { return block_[at_]; }
  void pass() {
    if (++at_ == filled_) fill();
  }

 private:
  void fill() {
    at_ = 0;
    filled_ = std::min<std::size_t>(block_.size(), (run_.end - run_.begin) / sizeof(Sha256));
    file_->read(run_.begin, std::as_writable_bytes(block_.first(filled_)));
    run_.begin += filled_ * sizeof(Sha256);
  }

  const NamelessFile* file_;
  Run run_;  // what is left of it
  std::span<Sha256> block_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

SortedDigest::SortedDigest(std::filesystem::path directory, const Limits& limits)
    : directory_(std::move(directory)), limits_(limits) {}

void SortedDigest::add(const Sha256& digest) {
  if (memory_.size() == limits_.run_digests) keep_run();
  memory_.push_back(digest);
}

void SortedDigest::sort() { std::sort(memory_.begin(), memory_.end(), before); }

void SortedDigest::keep_run() {
  if (!file_) file_.emplace(directory_);
  sort();
  const std::uint64_t begin = file_->size();
  file_->append(bytes_of(memory_));
  memory_.clear();
  runs_.push_back({begin, file_->size()});
  if (runs_.size() < limits_.merged_runs) return;
  const std::uint64_t from = file_->size();
  merge(runs_, [&](std::span<const Sha256> digests) { file_->append(bytes_of(digests)); });
  runs_.clear();
  merged_.push_back({from, file_->size()});
}

// Between two runs: the memory of a run is free.
template <class Take>
void SortedDigest::merge(const std::vector<Run>& runs, Take take) {
  memory_.resize(limits_.run_digests);
  const std::size_t share = std::max<std::size_t>(memory_.size() / (runs.size() + 1), 1);
  memory_.resize(std::max(memory_.size(), share * (runs.size() + 1)));
  const std::span<Sha256> all(memory_);
  std::vector<Reader> heap;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    heap.emplace_back(*file_, runs[i], all.subspan((i + 1) * share, share));
  }
  const auto after = [](const Reader& a, const Reader& b) { return before(b.front(), a.front()); };
  std::make_heap(heap.begin(), heap.end(), after);
  const std::span<Sha256> out = all.first(share);
  std::size_t filled = 0;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), after);
    out[filled++] = heap.back().front();
    if (filled == out.size()) take(out.first(std::exchange(filled, 0)));
    heap.back().pass();
    if (heap.back().ended()) {
      heap.pop_back();
    } else {
      std::push_heap(heap.begin(), heap.end(), after);
    }
  }
  take(out.first(filled));
  memory_.clear();
}

Sha256 SortedDigest::finish() {
  if (!file_) {
    sort();
    return sha256(bytes_of(memory_));
  }
  if (!memory_.empty()) keep_run();
  runs_.insert(runs_.end(), merged_.begin(), merged_.end());
  Hasher hasher;
  merge(runs_, [&](std::span<const Sha256> digests) { hasher.add(bytes_of(digests)); });
  return hasher.finish();
}

}  // namespace feedrate::formats
