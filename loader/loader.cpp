#include "loader/loader.h"

#include <algorithm>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "loader/engine/engine.h"
#include "loader/pixels/shrunk.h"

namespace feedrate::loader {
using namespace formats;

unsigned loader_cores(bool consumer_computes) {
  return std::max(1U, usable_cores() - (consumer_computes ? 1 : 0));
}

void LoaderOptions::Pixels::set_scales(const std::vector<double>& means,
                                       const std::vector<double>& deviations_by_channel,
                                       std::uint32_t channels) {
  scales = make_scales(means, deviations_by_channel, channels);
  deviations = {};
  if (deviations_by_channel.empty()) return;
  const auto values = by_channel("deviations", deviations_by_channel, channels);
  for (std::size_t c = 0; c < std::min(values.size(), deviations.size()); ++c)
    deviations[c] = static_cast<float>(values[c]);
}

bool shrinks(const Recipe& recipe) {
  constexpr std::uint32_t large = 8192;  // pixels
  try {
    return possible_shrink(recipe.view({large, large, 3}, SampleRandom(0, 0, 0))) > 1;
  } catch (const Error&) {
    return false;  // it is for images of one size
  }
}

void check_decoded(const Dataset& dataset, const Recipe& recipe, DecodedSize size) {
  if (size == DecodedSize::full) return;
  if (dataset.info().codec != jpeg_codec.name()) {
    fail(dataset.info().path, "only JPEGs can be decoded scaled, and it holds ",
         dataset.info().codec);
  }
  expect_shrinks(recipe);
}

void expect_shrinks(const Recipe& recipe) {
  if (shrinks(recipe)) return;
  throw Error(join("recipe ", recipe.name(),
                   " does not make images smaller, so they cannot be decoded scaled"));
}

void LoaderOptions::Share::check() const {
  if (rank < ranks) return;
  throw Error(join("expected a rank below the number of ranks, ", ranks, ", found ", rank));
}

Loader::Loader(const Dataset& dataset, const Recipe& recipe, const LoaderOptions& options) {
  check_decoded(dataset, recipe, options.decoded);
  engine_ = std::make_unique<Engine>(dataset, recipe, options);
}
Loader::~Loader() = default;

const Batch* Loader::next() { return engine_->next(); }
bool Loader::wait(std::chrono::nanoseconds limit) { return engine_->wait(limit); }
std::shared_ptr<const std::byte> Loader::keep() const { return engine_->keep(); }
Shape Loader::shape() const { return engine_->shape(); }
std::uint32_t Loader::batch_size() const { return engine_->batch_size(); }
std::uint64_t Loader::batches_per_epoch() const { return engine_->batches_per_epoch(); }
unsigned Loader::slots() const { return engine_->slots(); }
std::uint64_t Loader::ready_images() const { return engine_->ready_images(); }
void Loader::set_threads(unsigned threads) { engine_->set_threads(threads); }
const Tuning& Loader::tuning() const { return engine_->tuning(); }
LoaderState Loader::state() const { return engine_->state(); }
const std::vector<BadSample>& Loader::bad_samples() const { return engine_->bad_samples(); }
const std::string& Loader::crop_index_problem() const { return engine_->crop_index_problem(); }
LoaderStats Loader::stats() const { return engine_->stats(); }
void Loader::write_trace(const std::filesystem::path& file) const { engine_->write_trace(file); }

}  // namespace feedrate::loader
