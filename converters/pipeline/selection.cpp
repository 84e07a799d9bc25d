#include "converters/pipeline/selection.h"

#include <deque>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "converters/pipeline/trail.h"
#include "formats/base/random.h"
#include "formats/io/mapped_file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint64_t max_memory = std::uint64_t{4} << 30;
constexpr std::uint64_t look_ahead = 32;  // samples; how far ahead a shuffled map is prefetched
constexpr std::size_t min_prefetch = std::size_t{16} << 10;  // bytes; a prefetch is a system call

// A stream that was read to its end, so that it can seek.
class CollectedStream final : public SampleStream {
 public:
  explicit CollectedStream(std::unique_ptr<SampleStream> stream)
      : stream_(std::move(stream)), copies_(!stream_->lasting()) {
    Sample sample;
    while (stream_->next(sample)) {
      if (!stream_->problem().empty()) problems_.emplace(samples_.size(), stream_->problem());
      samples_.push_back(copies_ ? copy(sample) : sample);
    }
    info_ = stream_->info();
    info_.size = samples_.size();
  }

  const StreamInfo& info() const override { return info_; }
  bool lasting() const override { return true; }
  bool seekable() const override { return true; }
  void seek(std::uint64_t index) override { next_ = index; }
  std::string_view problem() const override {
    const auto found = problems_.find(next_ - 1);  // of the sample that was given last
    return found == problems_.end() ? std::string_view() : std::string_view(found->second);
  }
  bool next(Sample& sample) override {
    if (next_ >= samples_.size()) return false;
    sample = samples_[next_++];
    if (!copies_) {
      trail_.pass(sample.bytes);
      while (const auto bytes = trail_.take_far_behind()) stream_->give_back(*bytes);
    }
    return true;
  }

 private:
  struct Copy {
    Buffer bytes;
    std::string name;
    std::vector<Box> boxes;
    std::vector<float> labels;
  };

  Sample copy(Sample sample) {
    memory_ += sample.bytes.size() + sizeof(Copy);
    if (memory_ > max_memory) {
      throw Error(join("the source can only be read in its own order and is too large to hold in ",
                       "memory (over ", max_memory >> 30, " GiB); unpack it first"));
    }
    const Copy& kept = kept_.emplace_back(Copy{{sample.bytes.begin(), sample.bytes.end()},
                                               std::string(sample.name),
                                               {sample.boxes.begin(), sample.boxes.end()},
                                               {sample.labels.begin(), sample.labels.end()}});
    sample.bytes = kept.bytes;
    sample.name = kept.name;
    sample.boxes = kept.boxes;
    sample.labels = kept.labels;
    return sample;
  }

  std::unique_ptr<SampleStream> stream_;
  bool copies_;
  StreamInfo info_;
  std::vector<Sample> samples_;
  std::unordered_map<std::uint64_t, std::string> problems_;  // of samples that cannot be read
  std::deque<Copy> kept_;  // a deque: elements stay in place as it grows
  Trail trail_;  // releases mapped samples behind the reader, so that memory does not fill
  std::uint64_t memory_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace

std::vector<std::uint32_t> shuffled_order(std::uint64_t seed, std::uint64_t size) {
  if (size > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(join("cannot shuffle ", size, " samples; at most 2^32"));
  }
  std::vector<std::uint32_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint64_t i = size; i-- > 1;) {
    std::swap(order[i], order[below(random_bits(seed, i), static_cast<std::uint32_t>(i + 1))]);
  }
  return order;
}

SelectedStream::SelectedStream(std::unique_ptr<SampleStream> stream, const Selection& selection)
    : stream_(std::move(stream)), limit_(selection.limit) {
  const bool unknown = stream_->info().size == 0;
  if ((selection.shuffle && !stream_->seekable()) || (selection.counted && unknown)) {
    stream_ = std::make_unique<CollectedStream>(std::move(stream_));
  }
  size_ = stream_->info().size;
  if (selection.shuffle) order_ = shuffled_order(*selection.shuffle, size_);
  if (limit_ != 0 && size_ != 0) size_ = limit_ = std::min(limit_, size_);
}

SelectedStream::~SelectedStream() = default;

const StreamInfo& SelectedStream::info() const { return stream_->info(); }
bool SelectedStream::lasting() const { return stream_->lasting(); }

std::string_view SelectedStream::problem() const { return stream_->problem(); }

void SelectedStream::start_at(std::uint64_t position) {
  if (order_.empty() && stream_->seekable()) {
    stream_->seek(position);
    position_ = position;
  } else if (order_.empty()) {
    Sample passed;
    while (position_ < position && next(passed)) {
    }
  } else {
    position_ = position;
  }
}

bool SelectedStream::next(Sample& sample) {
  if (limit_ != 0 && position_ == limit_) return false;
  if (!order_.empty()) {
    if (position_ == order_.size()) return false;
    if (stream_->lasting() && position_ + look_ahead < order_.size()) {
      stream_->seek(order_[position_ + look_ahead]);
      if (Sample soon; stream_->next(soon) && soon.bytes.size() >= min_prefetch) {
        prefetch(soon.bytes);
      }
    }
    stream_->seek(order_[position_]);
  }
  if (!stream_->next(sample)) return false;
  ++position_;
  return true;
}

}  // namespace feedrate::converters
