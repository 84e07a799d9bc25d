#include "loader/engine/filler.h"

#include <algorithm>

#include "formats/base/label_problem.h"
#include "formats/base/lost_pages.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/io/late_bytes.h"
#include "loader/pixels/shrunk.h"

namespace feedrate::loader::detail {
using namespace formats;

namespace {

// How much of each sample is prefetched while its chunk is read, so that it is in the cache when it
// is decoded: all of a small sample, or the beginning of a large one, after which the hardware
// prefetcher takes over.
constexpr std::size_t prefetched_lines = 16;

// When this many samples drawn in a row are bad, most of the dataset must be.
constexpr std::uint32_t max_substitutes = 100;

// Touches every page, so that waiting for pages that are not in memory counts as reading.
void touch_pages(Bytes bytes) {
  constexpr std::size_t page = 4096;
  volatile std::byte sink{};
  for (std::size_t at = page; at < bytes.size(); at += page) sink = bytes[at];
  (void)sink;
}

void prefetch(Bytes bytes) {
  const std::size_t end = std::min(bytes.size(), prefetched_lines * cache_line);
  for (std::size_t i = 0; i < end; i += cache_line) __builtin_prefetch(bytes.data() + i);
}

}  // namespace

Filler::Filler(const Job& job, std::uint32_t chunk_length, TraceLane* lane)
    : job_(job),
      lane_(lane),
      order_(job),
      items_(chunk_length),
      indices_(chunk_length),
      maker_(job.recipe, job.shape),
      works_on_pixels_(works_on_pixels(job.recipe)),
      to_values_(holds_pixels() ? nullptr
                                : value_maker(job.shape.channels, job.pixels.type,
                                              job.pixels.wanted_layout())) {}

void Filler::fill(const Chunk& chunk, Ring& ring, Slot& slot, const std::atomic<bool>& stop) {
  if (chunk.count == 0) return;
  current_ = 0;
  try {
    fill_seats(chunk, ring, slot, stop);
  } catch (...) {  // out of memory: no sample is to blame, and no text can be made
    ring.fail(slot, chunk.seat + current_, std::current_exception());
  }
}

void Filler::fill_seats(const Chunk& chunk, Ring& ring, Slot& slot, const std::atomic<bool>& stop) {
  if (counters_.thread.load(std::memory_order_relaxed) == std::thread::id()) {
    counters_.thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  const Seats seats{slot.pixels + chunk.seat * ring.image_bytes(), slot.labels + chunk.seat,
                    slot.indices + chunk.seat};
  StageClock clock(job_.counts);
  std::string problem;
  bool damaged = true;
  forget_failed_late_bytes();
  try {
    read_chunk(chunk, seats, stop);
    clock.add_to(counters_.read_ns);
    const bool all_seated = decode_chunk(chunk, seats.pixels, stop);
    clock.add_to(counters_.decode_ns);
    if (!all_seated || works_on_pixels_) {
      augment_chunk(chunk, seats.pixels, stop);
      clock.add_to(counters_.augment_ns);
    }
    for (const Fault& fault : faults_) {
      current_ = fault.seat - chunk.seat;
      if (job_.on_bad != BadPolicy::replace || stop.load(std::memory_order_relaxed)) continue;
      replace(chunk, fault, seats);
    }
    if (clock.on()) {
      counters_.images.add(chunk.count);
      count_parts();
    }
    if (chunk.batch.last_of_epoch && chunk.seat == 0) job_.dataset.expect_unchanged();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    problem = reason(error);
    damaged = !late_bytes_failed();
  }
  // When the file itself is damaged, no sample is to blame and no policy helps.
  std::optional<std::string> damage;
  if (std::string lost = lost_pages_of_thread(); !lost.empty()) {
    damage = std::move(lost);
  } else if (!problem.empty() || !faults_.empty()) {
    // Another thread may have hit the missing page first: this one then read zeros.
    damage = changed_file();
  }
  if (damage) {
    ring.fail(slot, chunk.seat + current_, std::make_exception_ptr(Error(*damage)));
  } else if (!problem.empty()) {
    ring.fail(slot, chunk.seat + current_, sample_error(problem, damaged));
  }
  if (!faults_.empty()) {
    ring.add_faults(slot, faults_);
    faults_.clear();
  }
  if (lane_ != nullptr) {
    lane_->add(Activity::fill, clock.start_ns(), clock.end_ns(), chunk.batch.number);
  }
}

void mix_batch(const Job& job, const BatchRange& range, std::uint32_t count, Slot& slot,
               Buffer& scratch) {
  const auto mixers = job.recipe.mixers();
  Draws draws(SampleRandom(job.seed_of_draws, range.epoch, range.first), draws_of_a_batch);
  const Mixer& mixer = *mixers[draws.below(static_cast<std::uint32_t>(mixers.size()))];
  Batch batch;
  batch.count = count;
  batch.shape = job.shape;
  batch.type = job.pixels.type;
  batch.layout = job.pixels.wanted_layout();
  batch.set_bytes(slot.pixels);
  slot.own_share = count < 2 ? 1 : mixer.mix(batch, draws, grown(scratch, job.seat_bytes()));
}

void Filler::mix(const BatchRange& range, std::uint32_t count, Slot& slot) {
  StageClock clock(job_.counts);
  mix_batch(job_, range, count, slot, scratch_);
  clock.add_to(counters_.augment_ns);
}

template <class Step>
void Filler::each(const Chunk& chunk, const std::atomic<bool>& stop, Step step) {
  for (current_ = 0; current_ < chunk.count && !stop.load(std::memory_order_relaxed); ++current_) {
    Item& item = items_[current_];
    if (item.bad) continue;
    try {
      step(item);
    } catch (const std::bad_alloc&) {
      throw;  // the sample is not to blame
    } catch (const std::exception& error) {
      if (job_.on_bad == BadPolicy::fail || late_bytes_failed()) throw;
      item.bad = true;
      faults_.push_back(
          {chunk.seat + current_, item.index, std::string(item.sample.name), reason(error)});
    }
  }
}

void Filler::read_chunk(const Chunk& chunk, const Seats& seats, const std::atomic<bool>& stop) {
  order_.enter(chunk);
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    items_[i].bad = false;
    items_[i].pick = order_.pick(chunk, i);
    indices_[i] = order_.index(items_[i].pick);
  }
  job_.dataset.prefetch(std::span(indices_).first(chunk.count));
  std::uint64_t bytes = 0;
  each(chunk, stop, [&](Item& item) {
    item.sample = {};
    item.index = indices_[current_];
    item.sample = job_.dataset.read(item.index, item.scratch);
    check_sample(item.sample);
    item.entry = entry_of(item.index);
    prefetch(item.sample.bytes);
    touch_pages(item.sample.bytes);
    touch_pages(item.entry);
    seats.labels[current_] = item.sample.label;
    seats.indices[current_] = item.index;
    bytes += item.sample.bytes.size();
  });
  if (job_.counts) counters_.bytes_read.add(bytes);
}

bool Filler::decode_chunk(const Chunk& chunk, std::byte* pixels, const std::atomic<bool>& stop) {
  const std::size_t image_bytes = job_.seat_bytes();
  bool all_seated = true;
  each(chunk, stop, [&](Item& item) {
    decode_item(item, SampleRandom(job_.seed_of_draws, chunk.batch.epoch, item.pick),
                {pixels + current_ * image_bytes, image_bytes});
    all_seated = all_seated && item.seated;
  });
  return all_seated;
}

void Filler::augment_chunk(const Chunk& chunk, std::byte* pixels, const std::atomic<bool>& stop) {
  const std::size_t image_bytes = job_.seat_bytes();
  each(chunk, stop, [&](Item& item) {
    augment_item(item, {pixels + current_ * image_bytes, image_bytes});
  });
}

void Filler::decode_item(Item& item, const SampleRandom& random, MutableBytes seat) {
  const Sample& sample = item.sample;
  item.random = random;
  item.view = job_.recipe.view(sample.shape, random);
  maker_.check(item.view, sample.shape);
  if (job_.pixels.type == PixelType::packed) {
    item.seated = seat_packed(sample, item.view, job_.shape, seat);
    if (item.seated) return;
  }
  item.seated = holds_pixels() && shows_whole(item);
  if (item.seated) {
    decode(sample, values_in(seat));
    return;
  }
  item.shrunk = shrink_of(item);
  const Rect part = needed_part(item.view, sample.shape, item.shrunk);
  if (part.height == 0 || part.width == 0) return;
  const JpegAid aid{item.entry, job_.counts ? &parts_ : nullptr};
  if (item.shrunk > 1) {
    if (job_.counts) counters_.shrunk.add(1);
    item.part =
        decode_shrunk_jpeg_part(sample.bytes, sample.shape, item.shrunk, part, item.decoded, aid);
    return;
  }
  item.part = decode_part(sample, part, item.decoded, aid);
}

// Images that are no JPEGs are decoded in full.
std::uint32_t Filler::shrink_of(const Item& item) const {
  const bool scaled = job_.decoded == DecodedSize::scaled && item.sample.codec == &jpeg_codec;
  return scaled ? possible_shrink(item.view) : 1;
}

Bytes Filler::entry_of(std::uint64_t index) const {
  return job_.crops == nullptr ? Bytes() : job_.crops->entry(index);
}

void Filler::count_parts() {
  CropCounters& sums = counters_.crops;
  sums.parts.add(parts_.parts);
  sums.indexed.add(parts_.indexed);
  sums.stale.add(parts_.stale);
  sums.mcus_read.add(parts_.mcus_read);
  sums.mcus.add(parts_.mcus);
  sums.bytes_read.add(parts_.bytes_read);
  sums.bytes.add(parts_.bytes);
  parts_ = {};
}

void Filler::augment_item(Item& item, MutableBytes seat) {
  if (job_.pixels.type == PixelType::packed && item.seated) return;
  if (!holds_pixels()) return make_values(item, seat);
  const MutableBytes image = values_in(seat);
  if (item.seated) return maker_.operate(item.random, image);
  maker_.make({item.view, item.sample.shape, item.part, item.shrunk}, item.random, image);
}

MutableBytes Filler::values_in(MutableBytes seat) const {
  return job_.pixels.type == PixelType::packed ? pixels_of_seat(seat, job_.shape) : seat;
}

// Renders into `pixels_`, which stays in the core's cache, unless the decoded pixels can be used as
// they are.
void Filler::make_values(Item& item, MutableBytes seat) {
  const std::uint32_t channels = job_.shape.channels;
  const std::byte* pixels = item.part.first;
  if (works_on_pixels_ || !shows_whole(item) ||
      item.part.stride != std::size_t{job_.shape.width} * channels) {
    const MutableBytes image = grown(pixels_, job_.shape.bytes());
    maker_.make({item.view, item.sample.shape, item.part, item.shrunk}, item.random, image);
    pixels = image.data();
  }
  to_values_(pixels, std::size_t{job_.shape.height} * job_.shape.width,
             {job_.pixels.scales, job_.pixels.deviations}, seat.data());
}

// Whether decoding alone gives what the operations of a single pass work on.
bool Filler::shows_whole(const Item& item) const {
  return job_.recipe.then() == nullptr && item.sample.shape == job_.shape &&
         shows_all(item.view, item.sample.shape);
}

std::optional<std::string> Filler::changed_file() const {
  try {
    job_.dataset.expect_unchanged();
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

// Called at the end of a chunk, when the memory of its items is free to use.
void Filler::replace(const Chunk& chunk, const Fault& fault, const Seats& seats) {
  const SampleRandom random(job_.seed_of_draws, chunk.batch.epoch, items_[current_].pick);
  const MutableBytes seat(seats.pixels + current_ * job_.seat_bytes(), job_.seat_bytes());
  Item& item = items_[current_];
  for (std::uint32_t attempt = 0; attempt < max_substitutes; ++attempt) {
    try {
      const std::uint64_t index = order_.index(substitute(random, attempt, job_.epoch_size()));
      item.sample = job_.dataset.read(index, item.scratch);
      check_sample(item.sample);
      item.entry = entry_of(index);
      decode_item(item, random, seat);
      augment_item(item, seat);
      seats.labels[current_] = item.sample.label;
      seats.indices[current_] = index;
      return;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      if (late_bytes_failed()) throw;
      continue;  // reported when its own turn comes
    }
  }
  throw Error(
      join("none of ", max_substitutes, " substitutes was good; the bad sample: ", fault.reason));
}

void Filler::check_sample(const Sample& sample) const {
  const std::string problem =
      label_problem(sample.label, job_.dataset.info().classes, !sample.labels.empty());
  if (!problem.empty()) throw Error(problem);
  if (!sample.shape.plausible()) {
    throw Error(join("an image of ", sample.shape.height, " x ", sample.shape.width, " x ",
                     sample.shape.channels, " pixels is not plausible; is the entry damaged?"));
  }
}

// What is known of the current item. Called outside of any stage, so it must not throw.
std::exception_ptr Filler::sample_error(const std::string& problem, bool damaged) const {
  const Item& item = items_[current_ < items_.size() ? current_ : 0];
  try {
    return std::make_exception_ptr(SampleError({.place = job_.dataset.place(item.index),
                                                .index = item.index,
                                                .key = std::string(item.sample.name),
                                                .reason = problem},
                                               damaged));
  } catch (const std::exception&) {
    return std::make_exception_ptr(Error(problem));
  }
}

std::string Filler::reason(const std::exception& error) const {
  if (current_ >= items_.size()) return error.what();  // behind all stages: no sample's fault
  const Item& item = items_[current_];
  return reason_with_place(job_.dataset, item.index, item.sample.name, error);
}

}  // namespace feedrate::loader::detail
