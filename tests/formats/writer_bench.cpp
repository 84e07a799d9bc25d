// How fast each container writes encoded images that need no conversion, beside a plain copy of the
// same bytes by one thread; both end with the data on disk.
//
//   bench_writer [images] [bytes an image] [directory] [container…]

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>

#include "formats/container.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr int repeats = 5;

struct Work {
  std::uint64_t images = 5000;
  std::size_t bytes = 110'000;  // the average of ImageNet's JPEGs
  fs::path directory = fs::temp_directory_path() / "feedrate-bench";
  std::vector<Buffer> sources;
};

// Seconds until everything that `write` put into an empty directory is on disk.
double timed(const Work& work, const std::function<void()>& write) {
  fs::remove_all(work.directory);
  fs::create_directories(work.directory);
  const Descriptor directory = open_directory(work.directory);
  syncfs(directory.number());
  const auto start = std::chrono::steady_clock::now();
  write();
  syncfs(directory.number());
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void copy(const Work& work) {
  OutputFile file(work.directory / "copy");
  for (std::uint64_t i = 0; i < work.images; ++i) file.write(work.sources[i % work.sources.size()]);
  file.close();
}

void write(const Work& work, const Container& container, const Codec& kept) {
  WriterOptions options;
  options.codec = &kept;
  options.sharding.samples = work.images;
  const auto writer = container.create(work.directory, options);
  for (std::uint64_t i = 0; i < work.images; ++i) {
    const std::string name = join("n01440764/n01440764_", i, ".JPEG");
    Sample sample;
    sample.bytes = work.sources[i % work.sources.size()];
    sample.codec = &kept;
    sample.shape = {375, 500, 3};
    sample.label = static_cast<std::int32_t>(i % 1000);
    sample.name = name;
    writer->add(sample);
  }
  writer->finish(nullptr);
}

int run(Work work, std::vector<const Container*> chosen) {
  std::mt19937_64 random(1);
  // Sizes vary as those of JPEGs do, since allocators and pages see many of them.
  work.sources.resize(64);
  for (std::size_t i = 0; i < work.sources.size(); ++i) {
    Buffer& source = work.sources[i];
    source.resize(work.bytes / 3 + 4 * work.bytes / 3 * i / (work.sources.size() - 1));
    std::ranges::generate(source, [&] { return static_cast<std::byte>(random()); });
  }
  double bytes = 0;
  const Codec& kept = codec("jpeg");
  std::erase_if(chosen, [&](const Container* container) { return !container->accepts(kept); });
  for (std::uint64_t i = 0; i < work.images; ++i) {
    bytes += static_cast<double>(work.sources[i % work.sources.size()].size());
  }
  std::vector<std::vector<double>> seconds(chosen.size() + 1);
  for (int repeat = 0; repeat < repeats; ++repeat) {  // in turn: other load then affects all
    seconds[0].push_back(timed(work, [&] { copy(work); }));
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      seconds[i + 1].push_back(timed(work, [&] { write(work, *chosen[i], kept); }));
    }
  }
  for (auto& each : seconds) std::ranges::sort(each);
  const double copying = seconds[0][repeats / 2];
  std::printf("%llu images of about %zu bytes, median (fastest, slowest) of %d\n",
              static_cast<unsigned long long>(work.images), work.bytes, repeats);
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const std::vector<double>& each = seconds[i];
    std::printf("%-12s %6.0f MB/s (%5.0f, %5.0f)  %5.1f %% of a copy\n",
                i == 0 ? "plain copy" : std::string(chosen[i - 1]->name()).c_str(),
                bytes / 1e6 / each[repeats / 2], bytes / 1e6 / each.front(),
                bytes / 1e6 / each.back(), 100 * copying / each[repeats / 2]);
  }
  fs::remove_all(work.directory);
  return 0;
}

}  // namespace
}  // namespace feedrate::formats

int main(int count, char** words) {
  using namespace feedrate::formats;
  try {
    Work work;
    if (count > 1) work.images = std::stoull(words[1]);
    if (count > 2) work.bytes = std::stoull(words[2]);
    if (count > 3) work.directory = std::filesystem::path(words[3]) / "feedrate-bench";
    std::vector<const Container*> chosen;
    for (int i = 4; i < count; ++i) chosen.push_back(&container(words[i]));
    if (chosen.empty()) chosen.assign(containers().begin(), containers().end());
    return run(std::move(work), std::move(chosen));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_writer: %s\n", error.what());
    return 1;
  }
}
