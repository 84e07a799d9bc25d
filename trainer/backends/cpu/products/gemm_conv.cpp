#include "trainer/backends/cpu/products/gemm_conv.h"

#include <algorithm>
#include <cstring>

#include "formats/base/bytes.h"
#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/backends/cpu/values/arrays.h"
#include "trainer/backends/cpu/values/relayout.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {
namespace {

FEEDRATE_VECTOR void add_rows(const float* rows, std::int64_t count, std::int64_t width,
                              float* sums) {
  for_lanes(width, [&](std::int64_t first, auto lanes) {
    float sum[lanes];
    std::copy_n(sums + first, lanes, sum);
    for (std::int64_t row = 0; row < count; ++row) {
      for (int lane = 0; lane < lanes; ++lane) sum[lane] += rows[row * width + first + lane];
    }
    std::copy_n(sum, lanes, sums + first);
  });
}

FEEDRATE_VECTOR void fill_rows(const float* row, std::int64_t count, std::int64_t width,
                               float* rows) {
  for_lanes(width, [&](std::int64_t first, auto lanes) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (int lane = 0; lane < lanes; ++lane) rows[i * width + first + lane] = row[first + lane];
    }
  });
}

// Rows of a patch are short (5 floats in LeNet), so copying in steps, past their end, is faster
// than copying exactly. The excess is overwritten later or falls into the slack after the patches.
constexpr std::int64_t copy_step = 8;

void copy_beyond(const float* from, std::int64_t size, float* to) {
  for (std::int64_t i = 0; i < size; i += copy_step) {
    std::memcpy(to + i, from + i, copy_step * sizeof(float));
  }
}

}  // namespace

GemmConv::GemmConv(const LayerSite& site)
    : LayerOf(site, Layout::channels_last(site.node().extent)),
      input_(site.input),
      batch_(site.batch),
      kernel_(site.node().attributes.integer("kernel")),
      stride_(site.node().attributes.integer("stride")),
      pad_(site.node().attributes.integer("pad")),
      patch_(kernel_ * kernel_ * site.input.extent.channels),
      positions_(output().pixels()),
      threads_(static_cast<unsigned>(std::min<std::int64_t>(site.threads, site.batch))),
      input_learns_(site.input_learns),
      has_bias_(site.node().parameters.size() == 2) {}

GemmConv::ScratchSizes GemmConv::scratch_sizes() const {
  const std::int64_t filters = output().extent.channels;
  return {formats::round_up(input_.extent.elements(), line_floats),
          formats::round_up(positions_ * patch_ + copy_step, line_floats),
          formats::round_up(filters * patch_, line_floats),
          formats::round_up(filters, line_floats)};
}

std::size_t GemmConv::scratch_bytes() const {
  return static_cast<std::size_t>(scratch_sizes().all()) * threads_ * sizeof(float);
}

GemmConv::ThreadScratch GemmConv::thread_scratch(unsigned thread) const {
  const ScratchSizes sizes = scratch_sizes();
  float* start = reinterpret_cast<float*>(buffers().scratch) + sizes.all() * thread;
  return {start, start + sizes.image, start + sizes.image + sizes.patches,
          start + sizes.image + sizes.patches + sizes.weights};
}

void GemmConv::forward(const Step&) {
  const std::int64_t filters = output().extent.channels;
  on_threads(threads_, [&](unsigned thread) {
    const ThreadScratch mine = thread_scratch(thread);
    const Range range = share_of(batch_, thread, threads_);
    for (std::int64_t image = range.begin; image < range.end; ++image) {
      float* out = buffers().output + image * output().elements();
      if (has_bias_) fill_rows(buffers().parameters[1], positions_, filters, out);
      run({.m = positions_,
           .n = filters,
           .k = patch_,
           .a = {patches(image, mine), patch_},
           .b = {buffers().parameters[0], patch_, true},
           .keep = has_bias_ ? 1.0F : 0.0F,
           .c = out,
           .stride = filters});
    }
  });
}

void GemmConv::backward(const Step&) {
  on_threads(threads_, [&](unsigned thread) {
    const ThreadScratch mine = thread_scratch(thread);
    const std::int64_t filters = output().extent.channels;
    std::fill_n(mine.weights, filters * patch_, 0.0F);
    std::fill_n(mine.bias, filters, 0.0F);
    const Range range = share_of(batch_, thread, threads_);
    for (std::int64_t image = range.begin; image < range.end; ++image) {
      backward_image(image, mine);
    }
  });
  on_threads(threads_, [&](unsigned thread) { add_up(thread); });
}

void GemmConv::backward_image(std::int64_t image, const ThreadScratch& mine) const {
  const std::int64_t filters = output().extent.channels;
  const float* gradient = buffers().output_gradient + image * output().elements();
  if (has_bias_) add_rows(gradient, positions_, filters, mine.bias);
  run({.m = filters,
       .n = patch_,
       .k = positions_,
       .a = {gradient, filters, true},
       .b = {patches(image, mine), patch_},
       .keep = 1,
       .c = mine.weights,
       .stride = patch_});
  if (input_learns_) input_gradient(image, mine);
}

void GemmConv::input_gradient(std::int64_t image, const ThreadScratch& mine) const {
  const std::int64_t filters = output().extent.channels;
  run({.m = positions_,
       .n = patch_,
       .k = filters,
       .a = {buffers().output_gradient + image * output().elements(), filters},
       .b = {buffers().parameters[0], patch_},
       .keep = 0,
       .c = mine.patches,
       .stride = patch_});
  const Layout folded = Layout::channels_last(input_.extent);
  float* out = buffers().input_gradient + image * input_.elements();
  if (input_ == folded) {
    fold(mine.patches, out);
  } else {
    fold(mine.patches, mine.image);
    relayout(mine.image, folded, out, input_);
  }
}

// Sums this thread's share of the gradients over the parts of all threads, in order of threads.
void GemmConv::add_up(unsigned thread) const {
  const std::int64_t filters = output().extent.channels;
  const auto sum = [&](float* ThreadScratch::*part, std::int64_t size, float* to) {
    const Range range = share_of(size, thread, threads_, line_floats);
    if (range.size() == 0) return;
    std::copy_n(thread_scratch(0).*part + range.begin, range.size(), to + range.begin);
    for (unsigned other = 1; other < threads_; ++other) {
      add_values(thread_scratch(other).*part + range.begin, range.size(), to + range.begin);
    }
  };
  sum(&ThreadScratch::weights, filters * patch_, buffers().gradients[0]);
  if (has_bias_) sum(&ThreadScratch::bias, filters, buffers().gradients[1]);
}

const float* GemmConv::patches(std::int64_t image, const ThreadScratch& mine) const {
  const float* in = buffers().input + image * input_.elements();
  const Layout wanted = Layout::channels_last(input_.extent);
  if (input_ != wanted) {
    relayout(in, input_, mine.image, wanted);
    in = mine.image;
  }
  if (kernel_ == 1 && stride_ == 1) return in;  // the image is its own patches
  unfold(in, mine.patches);
  return mine.patches;
}

void GemmConv::unfold(const float* image, float* to) const {
  const Extent& in = input_.extent;
  const Extent& out = output().extent;
  const std::int64_t run = kernel_ * in.channels, row = in.width * in.channels;
  // The last start of a patch whose final row can be copied past its end within the image.
  const std::int64_t last = in.elements() - (kernel_ - 1) * row - (run + copy_step - 1);
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x, to += patch_) {
      const std::int64_t top = y * stride_ - pad_, left = x * stride_ - pad_;
      const std::int64_t start = top * row + left * in.channels;
      const bool inside =
          top >= 0 && left >= 0 && top + kernel_ <= in.height && left + kernel_ <= in.width;
      if (!inside || start > last) {
        unfold_at_edge(image, top, left, to);
        continue;
      }
      for (std::int64_t ky = 0; ky < kernel_; ++ky) {
        copy_beyond(image + start + ky * row, run, to + ky * run);
      }
    }
  }
}

// Unfolds a patch that is partly outside the image, where values are zero.
void GemmConv::unfold_at_edge(const float* image, std::int64_t top, std::int64_t left,
                              float* to) const {
  const Extent& in = input_.extent;
  const std::int64_t from = std::max<std::int64_t>(left, 0);
  const std::int64_t end = std::min(left + kernel_, in.width);
  std::fill_n(to, patch_, 0.0F);
  for (std::int64_t ky = 0; ky < kernel_; ++ky, to += kernel_ * in.channels) {
    const std::int64_t row = top + ky;
    if (row < 0 || row >= in.height || end <= from) continue;
    std::copy_n(image + (row * in.width + from) * in.channels, (end - from) * in.channels,
                to + (from - left) * in.channels);
  }
}

void GemmConv::fold(const float* from_patches, float* image) const {
  const Extent& in = input_.extent;
  const Extent& out = output().extent;
  std::fill_n(image, in.elements(), 0.0F);
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x) {
      const std::int64_t left = x * stride_ - pad_;
      const std::int64_t from = std::max<std::int64_t>(left, 0);
      const std::int64_t end = std::min(left + kernel_, in.width);
      for (std::int64_t ky = 0; ky < kernel_; ++ky, from_patches += kernel_ * in.channels) {
        const std::int64_t row = y * stride_ - pad_ + ky;
        if (row < 0 || row >= in.height || end <= from) continue;
        add_values(from_patches + (from - left) * in.channels, (end - from) * in.channels,
                   image + (row * in.width + from) * in.channels);
      }
    }
  }
}

// Canonical weights are [filter][channel][row][column].
void GemmConv::to_stored(std::size_t k, std::span<const float> canonical, float* stored) const {
  if (k != 0) return Layer::to_stored(k, canonical, stored);
  const std::int64_t channels = input_.extent.channels, area = kernel_ * kernel_;
  for (std::int64_t filter = 0; filter < output().extent.channels; ++filter) {
    transpose(canonical.data() + filter * patch_, channels, area, stored + filter * patch_);
  }
}

void GemmConv::from_stored(std::size_t k, const float* stored, std::span<float> canonical) const {
  if (k != 0) return Layer::from_stored(k, stored, canonical);
  const std::int64_t channels = input_.extent.channels, area = kernel_ * kernel_;
  for (std::int64_t filter = 0; filter < output().extent.channels; ++filter) {
    transpose(stored + filter * patch_, area, channels, canonical.data() + filter * patch_);
  }
}

}  // namespace feedrate::trainer::cpu
