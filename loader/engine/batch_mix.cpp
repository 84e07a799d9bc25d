#include "loader/engine/batch_mix.h"

namespace feedrate::loader::detail {
using namespace formats;

void mix_batch(const Job& job, const BatchRange& range, std::uint32_t count, Slot& slot,
               Buffer& scratch) {
  const auto mixers = job.recipe.mixers();
  Draws draws(SampleRandom(job.seed, range.epoch, range.first), draws_of_a_batch);
  const Mixer& mixer = *mixers[draws.below(static_cast<std::uint32_t>(mixers.size()))];
  Batch batch;
  batch.count = count;
  batch.shape = job.shape;
  batch.type = job.pixels.type;
  batch.layout = job.pixels.wanted_layout();
  batch.set_bytes(slot.pixels);
  slot.own_share = count < 2 ? 1 : mixer.mix(batch, draws, grown(scratch, job.seat_bytes()));
}

}  // namespace feedrate::loader::detail
