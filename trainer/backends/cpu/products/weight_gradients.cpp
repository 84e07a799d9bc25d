#include "trainer/backends/cpu/products/weight_gradients.hpp"

#include <algorithm>

#include "trainer/backends/cpu/products/onednn_geometry.hpp"
#include "trainer/backends/cpu/threads/omp_threads.h"
#include "trainer/backends/cpu/values/arrays.h"

namespace feedrate::trainer::cpu {
namespace {

// A range of the outermost dimension; if that is blocked, the range must start at a block.
memory::desc part_of(const memory::desc& all, const Range& range) {
  memory::dims dims = dims_of(all);
  dims[0] = range.size();
  return all.submemory_desc(dims, memory::dims(dims.size(), 0));
}

void* part_at(const memory::desc& all, const Range& range, void* start) {
  const std::size_t bytes = all.get_size() / static_cast<std::size_t>(padded_dims_of(all)[0]);
  return static_cast<std::byte*>(start) + static_cast<std::size_t>(range.begin) * bytes;
}

memory::desc channels_of(const memory::desc& all, const Range& range) {
  memory::dims dims = dims_of(all);
  dims[1] = range.size();
  return all.submemory_desc(dims, {0, range.begin, 0, 0});
}

}  // namespace

WeightGradients::WeightGradients(const LayerSite& site, const Layouts& layouts)
    : sharing_(sharing(site, layouts.weights)), layouts_(layouts) {
  const unsigned count = sharing_ == Sharing::by_onednn ? 1 : site.threads;
  const OmpThreads omp(sharing_ == Sharing::by_onednn ? site.threads : 1);
  for (unsigned number = 0; number < count; ++number) shares_.push_back(share(site, number));
}

WeightGradients::Sharing WeightGradients::sharing(const LayerSite& site,
                                                  const memory::desc& weights) {
  constexpr std::int64_t block = 16, min_filters = 32;  // filters: in oneDNN's blocks, per thread
  if (!site.bf16 || site.threads == 1) return Sharing::by_onednn;
  const memory::dims strides = strides_of(weights);
  const bool filters_outermost =
      !strides.empty() && strides[0] == *std::ranges::max_element(strides);
  const memory::dims dims = dims_of(weights);  // groups come first
  const Extent& out = site.node().extent;
  if (dims.size() == 4 && filters_outermost && dims[0] % block == 0 &&
      dims[0] >= min_filters * site.threads &&
      site.batch * out.height * out.width <= dims[1] * dims[2] * dims[3]) {
    return Sharing::by_filters;
  }
  return site.batch >= site.threads ? Sharing::by_images : Sharing::by_onednn;
}

WeightGradients::Share WeightGradients::share(const LayerSite& site, unsigned number) const {
  constexpr std::int64_t grain = 32;  // filters: whole oneDNN blocks
  const std::int64_t filters = site.node().extent.channels;
  Share mine{{0, site.batch}, {0, filters}, {}, dnnl::stream(engine())};
  if (sharing_ == Sharing::by_filters)
    mine.filters = share_of(filters, number, site.threads, grain);
  if (sharing_ == Sharing::by_images) mine.images = share_of(site.batch, number, site.threads);
  const auto sums = describe_backward_weights(site, {mine.images, mine.filters});
  mine.call = Call(BackwardWeights(sums), sums);
  mine.call.reads(DNNL_ARG_SRC, part_of(layouts_.input, mine.images), sums.src_desc());
  mine.call.reads(DNNL_ARG_DIFF_DST,
                  sharing_ == Sharing::by_filters ? channels_of(layouts_.gradient, mine.filters)
                                                  : part_of(layouts_.gradient, mine.images),
                  sums.diff_dst_desc());
  const bool some = sharing_ == Sharing::by_filters;
  mine.call.writes(DNNL_ARG_DIFF_WEIGHTS,
                   some ? part_of(layouts_.weights, mine.filters) : layouts_.weights,
                   sums.diff_weights_desc());
  if (has_bias()) {
    mine.call.writes(DNNL_ARG_DIFF_BIAS, sums.diff_bias_desc(), sums.diff_bias_desc());
  }
  return mine;
}

std::size_t WeightGradients::scratch_bytes() const {
  std::size_t bytes = 0;
  for (const Share& share : shares_) bytes += share.call.scratch_bytes() + sums_bytes();
  return bytes;
}

// Bytes of the sums that each share of images but the first needs for itself.
std::size_t WeightGradients::sums_bytes() const {
  if (sharing_ != Sharing::by_images) return 0;
  return room_for(layouts_.weights.get_size()) + room_for(layouts_.bias.get_size());
}

void WeightGradients::bind(void* input, void* gradient, const Buffers& buffers,
                           std::byte* scratch) {
  float* weights = buffers.gradients[0];
  float* bias = has_bias() ? buffers.gradients[1] : nullptr;
  for (Share& share : shares_) {
    share.weights = weights, share.bias = bias;
    if (sharing_ == Sharing::by_filters) {
      share.weights = static_cast<float*>(part_at(layouts_.weights, share.filters, weights));
      if (has_bias()) share.bias = bias + share.filters.begin;
      share.call.bind({input, gradient, share.weights, share.bias}, scratch);
    } else {
      if (&share != &shares_.front()) {
        share.weights = reinterpret_cast<float*>(scratch);
        share.bias = reinterpret_cast<float*>(scratch + room_for(layouts_.weights.get_size()));
      }
      share.call.bind(
          {part_at(layouts_.input, share.images, input),
           part_at(layouts_.gradient, share.images, gradient), share.weights, share.bias},
          scratch + sums_bytes());
    }
    scratch += share.call.scratch_bytes() + sums_bytes();
  }
}

void WeightGradients::run() {
  const auto count = static_cast<unsigned>(shares_.size());
  if (count == 1) return shares_[0].call.run(shares_[0].stream);
  on_threads(count, [&](unsigned number) { shares_[number].call.run(shares_[number].stream); });
  if (sharing_ == Sharing::by_filters) return;
  add_up(&Share::weights, layouts_.weights);
  if (has_bias()) add_up(&Share::bias, layouts_.bias);
}

void WeightGradients::add_up(float* Share::*sums, const memory::desc& layout) const {
  const auto size = static_cast<std::int64_t>(layout.get_size() / sizeof(float));
  const auto count = static_cast<unsigned>(shares_.size());
  on_shares(count, size, line_floats, [&](const Range& range) {
    for (unsigned other = 1; other < count; ++other) {
      add_values(shares_[other].*sums + range.begin, range.size(), shares_[0].*sums + range.begin);
    }
  });
}

}  // namespace feedrate::trainer::cpu
