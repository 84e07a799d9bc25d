#include "loader/engine/filler.h"

#include <algorithm>

#include "formats/io/lost_pages.h"

namespace feedrate::loader::detail {
using namespace formats;

namespace {

// A run's small samples are asked for while it is read, so that they are near when it is decoded;
// of a large one the beginning, after which hardware sees the lines come in a row.
constexpr std::size_t lines_ahead = 16;

// Where so many samples drawn in a row are bad, so is most of the dataset.
constexpr std::uint32_t max_substitutes = 100;

// A page that is not in memory yet is waited for here, where waiting is booked as reading.
void wait_for_pages(Bytes bytes) {
  constexpr std::size_t page = 4096;
  volatile std::byte sink{};
  for (std::size_t at = page; at < bytes.size(); at += page) sink = bytes[at];
  (void)sink;
}

void fetch_ahead(Bytes bytes) {
  const std::size_t end = std::min(bytes.size(), lines_ahead * 64);
  for (std::size_t i = 0; i < end; i += 64) __builtin_prefetch(bytes.data() + i);
}

std::string size_text(Shape shape) {
  return join(shape.height, " x ", shape.width, " x ", shape.channels);
}

}  // namespace

Filler::Filler(const Job& job, std::uint32_t run_length, TraceLane* lane)
    : job_(job),
      lane_(lane),
      order_(job),
      works_(run_length),
      to_values_(value_maker(job.shape.channels, job.pixels)) {}

void Filler::fill(const Run& run, Ring& ring, Slot& slot, const std::atomic<bool>& stop) {
  if (run.count == 0) return;
  if (counters_.thread.load(std::memory_order_relaxed) == std::thread::id()) {
    counters_.thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  std::byte* seats = slot.pixels + run.seat * ring.image_bytes();
  std::int32_t* labels = slot.labels + run.seat;
  StageClock clock(job_.counts);
  std::string problem;
  try {
    read(run, labels, stop);
    clock.book(counters_.read_ns);
    const bool all_seated = decode(run, seats, stop);
    clock.book(counters_.decode_ns);
    if (!all_seated) {
      augment(run, seats, stop);
      clock.book(counters_.augment_ns);
    }
    for (const Fault& fault : faults_) {
      at_ = fault.seat - run.seat;
      if (job_.on_bad != BadPolicy::replace || stop.load(std::memory_order_relaxed)) continue;
      replace(run, fault, seats + at_ * ring.image_bytes(), labels[at_]);
    }
    if (clock.on()) counters_.images.add(run.count);
    if (run.batch.last_of_epoch && run.seat == 0) job_.dataset.expect_unchanged();
  } catch (const std::exception& error) {
    problem = with_place(error.what());
  }
  // No sample is to blame, and no policy helps, where the file itself has gone.
  if (std::string lost = lost_pages_of_thread(); !lost.empty()) {
    problem = std::move(lost);
  } else if (!problem.empty() || !faults_.empty()) {
    // Another thread may have met the missing page first: this one then read its zeros.
    problem = changed_file().value_or(problem);
  }
  if (!problem.empty()) ring.fail(slot, run.seat + at_, std::make_exception_ptr(Error(problem)));
  if (!faults_.empty()) {
    ring.add_faults(slot, faults_);
    faults_.clear();
  }
  if (lane_ != nullptr) {
    lane_->add(Activity::fill, clock.start_ns(), clock.end_ns(), run.batch.number);
  }
}

template <class Step>
void Filler::each(const Run& run, const std::atomic<bool>& stop, Step step) {
  for (at_ = 0; at_ < run.count && !stop.load(std::memory_order_relaxed); ++at_) {
    Work& work = works_[at_];
    if (work.bad) continue;
    try {
      step(work);
    } catch (const std::bad_alloc&) {
      throw;  // the machine's fault, not the sample's
    } catch (const std::exception& error) {
      if (job_.on_bad == BadPolicy::fail) throw;
      work.bad = true;
      faults_.push_back(
          {run.seat + at_, work.index, std::string(work.sample.name), with_place(error.what())});
    }
  }
}

void Filler::read(const Run& run, std::int32_t* labels, const std::atomic<bool>& stop) {
  order_.enter(run);
  for (std::uint32_t i = 0; i < run.count; ++i) works_[i].bad = false;
  std::uint64_t bytes = 0;
  each(run, stop, [&](Work& work) {
    work.sample = {};
    work.index = order_.index(run, at_);
    work.sample = job_.dataset.read(work.index, work.scratch);
    check(work.sample);
    fetch_ahead(work.sample.bytes);
    wait_for_pages(work.sample.bytes);
    labels[at_] = work.sample.label;
    bytes += work.sample.bytes.size();
  });
  if (job_.counts) counters_.bytes_read.add(bytes);
}

bool Filler::decode(const Run& run, std::byte* seats, const std::atomic<bool>& stop) {
  const std::size_t image_bytes = job_.seat_bytes();
  bool all_seated = true;
  each(run, stop, [&](Work& work) {
    decode(work, SampleRandom(job_.seed, run.batch.epoch, work.index),
           {seats + at_ * image_bytes, image_bytes});
    all_seated = all_seated && work.seated;
  });
  return all_seated;
}

void Filler::augment(const Run& run, std::byte* seats, const std::atomic<bool>& stop) {
  const std::size_t image_bytes = job_.seat_bytes();
  each(run, stop, [&](Work& work) { augment(work, {seats + at_ * image_bytes, image_bytes}); });
}

void Filler::decode(Work& work, const SampleRandom& random, MutableBytes seat) {
  const Sample& sample = work.sample;
  work.view = job_.recipe.view(sample.shape, random);
  check(work);
  work.seated = job_.pixels == PixelType::u8 && shows_whole(work);
  if (work.seated) {
    feedrate::formats::decode(sample, seat);
    return;
  }
  const Rect part = needed_part(work.view, sample.shape);
  if (part.height > 0 && part.width > 0) work.part = decode_part(sample, part, work.decoded);
}

void Filler::augment(Work& work, MutableBytes seat) {
  if (work.seated) return;
  if (job_.pixels != PixelType::u8) return make_values(work, seat);
  renderer_.render(work.view, work.sample.shape, work.part, job_.shape.channels, seat);
}

// Through pixels that stay in the core's cache, unless the sample's own are all there is to it.
void Filler::make_values(Work& work, MutableBytes seat) {
  const std::uint32_t channels = job_.shape.channels;
  const std::byte* pixels = work.part.first;
  if (!shows_whole(work) || work.part.stride != std::size_t{job_.shape.width} * channels) {
    const MutableBytes image = grown(pixels_, job_.shape.bytes());
    renderer_.render(work.view, work.sample.shape, work.part, channels, image);
    pixels = image.data();
  }
  to_values_(pixels, std::size_t{job_.shape.height} * job_.shape.width, job_.scales, seat.data());
}

// Whether decoding gives the image of the batch as it is.
bool Filler::shows_whole(const Work& work) const {
  return work.sample.shape == job_.shape && shows_all(work.view, work.sample.shape);
}

std::optional<std::string> Filler::changed_file() const {
  try {
    job_.dataset.expect_unchanged();
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

// A run is over when this is called: its memory is free to use.
void Filler::replace(const Run& run, const Fault& fault, std::byte* seat, std::int32_t& label) {
  const SampleRandom random(job_.seed, run.batch.epoch, fault.index);
  const MutableBytes place(seat, job_.seat_bytes());
  Work& work = works_[at_];
  for (std::uint32_t attempt = 0; attempt < max_substitutes; ++attempt) {
    try {
      const std::uint64_t index = substitute(random, attempt, job_.dataset.size());
      work.sample = job_.dataset.read(index, work.scratch);
      check(work.sample);
      decode(work, random, place);
      augment(work, place);
      label = work.sample.label;
      return;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      continue;  // it is told when its own turn comes
    }
  }
  throw Error(
      join("no substitute among ", max_substitutes, " was good; the bad one: ", fault.reason));
}

void Filler::check(const Sample& sample) const {
  const std::uint32_t classes = job_.dataset.info().classes;
  if (classes != 0 && (sample.label < 0 || static_cast<std::uint32_t>(sample.label) >= classes)) {
    throw Error(join("label ", sample.label, " is none of the dataset's ", classes, " classes"));
  }
  if (!sample.shape.plausible()) {
    throw Error(join("no image is ", size_text(sample.shape), " pixels; is the entry damaged?"));
  }
}

void Filler::check(const Work& work) const {
  const Shape stored = work.sample.shape;
  const Shape given{work.view.window.height, work.view.window.width,
                    stored.channels == 1 ? job_.shape.channels : stored.channels};
  if (given != job_.shape) {
    throw Error(join("expected ", size_text(job_.shape), " pixels as in the first image, found ",
                     size_text(given), "; recipe ", job_.recipe.name(),
                     " needs images of one size"));
  }
  check_view(work.view, stored);
}

// Readers name the file and the sample themselves; decoders know neither.
std::string Filler::with_place(std::string_view what) const {
  const std::string path = job_.dataset.info().path.string();
  if (!path.empty() && what.find(path) != std::string_view::npos) return std::string(what);
  const Work& work = works_[at_];
  const std::string_view name = work.sample.name;
  return join(path, ": sample ", work.index, name.empty() ? "" : " '", name,
              name.empty() ? ": " : "': ", what);
}

}  // namespace feedrate::loader::detail
