#include <cstring>
#include <vector>

#include "formats/base/error.h"
#include "loader/loader.h"

namespace feedrate::loader {
using namespace formats;

struct Replay::State {
  struct Held {
    std::byte* memory;
    std::size_t bytes;
    Batch batch;
  };

  explicit State(PixelMemory& m) : memory(m) {}
  ~State() {
    for (const Held& one : held) memory.release(one.memory, one.bytes);
  }

  void hold(const Batch& batch) {
    // One allocation: the images, then the labels.
    const std::span<const std::byte> images = batch.bytes();
    const std::size_t labels_at = round_up(images.size(), pixel_alignment);
    const std::size_t bytes = labels_at + batch.labels.size_bytes();
    held.reserve(held.size() + 1);
    held.push_back({memory.allocate(bytes), bytes, batch});
    std::byte* start = held.back().memory;
    std::memcpy(start, images.data(), images.size());
    std::memcpy(start + labels_at, batch.labels.data(), batch.labels.size_bytes());
    Batch& copy = held.back().batch;
    copy.set_bytes(start);
    copy.labels = {reinterpret_cast<std::int32_t*>(start + labels_at), batch.labels.size()};
    copy.indices = {};
    copy.last_of_epoch = false;
  }

  PixelMemory& memory;
  std::vector<Held> held;
  Shape shape;
  std::uint32_t batch_size = 0;
  std::uint64_t steps = 0;
  std::uint64_t given = 0;
  Batch current;
};

Replay::Replay(BatchSource& source, unsigned distinct, std::uint64_t steps, PixelMemory* memory)
    : state_(std::make_unique<State>(memory != nullptr ? *memory : plain_memory())) {
  state_->shape = source.shape();
  state_->batch_size = source.batch_size();
  state_->steps = steps;
  while (state_->held.size() < distinct) {
    const Batch* batch = source.next();
    if (batch == nullptr) break;
    state_->hold(*batch);
  }
  if (state_->held.empty()) throw Error("replay: there is no batch to repeat");
}
Replay::~Replay() = default;

const Batch* Replay::next() {
  State& state = *state_;
  if (state.steps != 0 && state.given == state.steps) return nullptr;
  state.current = state.held[state.given % state.held.size()].batch;
  state.current.number = state.given++;
  return &state.current;
}

Shape Replay::shape() const { return state_->shape; }
std::uint32_t Replay::batch_size() const { return state_->batch_size; }

}  // namespace feedrate::loader
