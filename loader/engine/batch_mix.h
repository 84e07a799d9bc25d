#pragma once
// Mixes the images of a batch, where the recipe asks for it.

#include "formats/base/bytes.h"
#include "loader/engine/chunk_order.h"
#include "loader/engine/ring.h"

namespace feedrate::loader::detail {

inline bool mixes(const Job& job) { return !job.recipe.mixers().empty(); }
/// The images in the first `count` seats of the slot, which are filled. `scratch` grows to an image.
void mix_batch(const Job& job, const BatchRange& range, std::uint32_t count, Slot& slot,
               formats::Buffer& scratch);

}  // namespace feedrate::loader::detail
