#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>

#include "loader/loader.h"
#include "tests/loader/mirroring.h"
#include "tests/support/format_pairs.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace {
std::atomic<std::uint64_t> allocations{0};
}  // namespace

// Counts every `new` of the test program. Not inlined: the compiler would report a mismatch of
// malloc and operator delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace feedrate::loader {
using namespace formats;

namespace {

using testing::MemoryDataset;
using testing::Mirroring;

const Mirroring mirroring;

TEST(UnitAllocations, steady_state_allocates_nothing) {
  const Recipe& none = recipe("none");
  const MemoryDataset dataset(1000);
  for (const Recipe* recipe : {&none, static_cast<const Recipe*>(&mirroring)}) {
    for (const unsigned threads : {0U, 1U, 3U}) {
      Loader loader(dataset, *recipe,
                    {.threads = threads, .batch = 64, .epochs = 0, .diagnosis = {.trace = true}});
      // Until every worker has filled its longest run.
      for (int i = 0; i < 1000 || loader.stats().workers_seen < threads; ++i) loader.next();
      const std::uint64_t before = allocations;
      for (int i = 0; i < 500; ++i) loader.next();
      EXPECT_EQ(allocations - before, 0U) << recipe->name() << ", " << threads << " threads";
    }
  }
}

// Grey images and several sizes among colour images, as in a real dataset.
void mixed(std::uint64_t index, Sample& sample) {
  const auto step = static_cast<std::uint32_t>(index % 7);
  sample.shape = {300 - 20 * step, 180 + 20 * step, index % 5 == 0 ? 1U : 3U};
  sample.bytes = sample.bytes.first(sample.shape.bytes());
}

TEST(UnitAllocations, steady_state_of_every_recipe_allocates_nothing) {
  const MemoryDataset grey(300), colour(300, {32, 32, 3});
  const MemoryDataset photographs(100, {300, 300, 3}, mixed);
  std::vector<const Recipe*> all(recipes().begin(), recipes().end());
  all.push_back(
      &recipe("flip+color-jitter:brightness=1:contrast=1:saturation=1:hue=0.5+rand-augment"
              "+random-erasing:share=1+mixup+cutmix"));
  all.push_back(
      &recipe("rotate:interpolation=bilinear+random-resized-crop:size=64+vertical-flip+flip+rotate"
              "+center-crop:size=48"));
  all.push_back(
      &recipe("random-crop:size=28+pad:mode=reflect+random-crop:size=30+apply:parts=2"
              "+gaussian-blur:size=9+random-affine:degrees=-9-9+auto-augment"
              "+trivial-augment+random-grey:share=0.5"));
  for (const Recipe* recipe : all) {
    const bool takes_grey_only = recipe->name() == "mnist";
    const bool scales = !takes_grey_only && recipe->shape({300, 300, 3}).width != 300;
    const Dataset& dataset = takes_grey_only ? grey : scales ? photographs : colour;
    for (const PixelType type : pixel_types) {
      Loader loader(dataset, *recipe,
                    {.threads = 0, .batch = 20, .epochs = 0, .pixels = {.type = type}});
      for (int i = 0; i < 100; ++i) loader.next();
      const std::uint64_t before = allocations;
      for (int i = 0; i < 50; ++i) loader.next();
      EXPECT_EQ(allocations - before, 0U) << recipe->name() << ", " << name(type);
    }
  }
}

// Of all threads. The kernel's own work counts too: moving a page, making a huge one.
long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

long resident_pages() {
  long size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident;
}

// Datasets on disk, in every format, with images of photographs' size. Earlier epochs have touched
// every page, and codec libraries reuse the memory that they freed.
TEST(UnitAllocations, steady_state_of_every_format_faults_no_page_and_does_not_grow) {
  const testing::TempDirectory directory;
  const auto examples = testing::make_examples({300, 280, 3}, 24);
  std::size_t which = 0;
  for (const testing::FormatPair& pair : testing::format_pairs()) {
    const auto path = directory / pair.name();
    write_dataset(*pair.container, *pair.codec, path, examples);
    const auto dataset = open_dataset(path);
    // Alternate between the types, to save time.
    const PixelType type = pixel_types[which++ % 2];
    Loader loader(*dataset, recipe("imagenet-train"),
                  {.threads = 2, .batch = 8, .epochs = 0, .pixels = {.type = type}});
    for (int i = 0; i < 60 || loader.stats().workers_seen < 2; ++i) loader.next();
    long least_faults = std::numeric_limits<long>::max();
    std::uint64_t least_allocations = std::numeric_limits<std::uint64_t>::max();
    const long pages = resident_pages();
    for (int round = 0; round < 5; ++round) {
      const long faults = page_faults();
      const std::uint64_t before = allocations;
      for (int i = 0; i < 6; ++i) loader.next();
      least_faults = std::min(least_faults, page_faults() - faults);
      least_allocations = std::min<std::uint64_t>(least_allocations, allocations - before);
    }
    EXPECT_EQ(least_faults, 0) << pair.name();
    EXPECT_EQ(least_allocations, 0U) << pair.name();
    EXPECT_LE(resident_pages() - pages, 256) << pair.name();
  }
}

}  // namespace
}  // namespace feedrate::loader
