#include "formats/verify.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "formats/container.h"
#include "formats/error.h"

namespace feedrate {
namespace {

constexpr std::uint64_t chunk = 256;           // samples a thread takes at a time
constexpr std::size_t most_shapes = 16;        // distinct shapes that are listed
constexpr std::size_t most_classes = 1 << 20;  // counted; larger labels are findings

// One thread's part; findings carry their sample so that all can be sorted into dataset order.
struct Part {
  std::uint64_t samples = 0;
  std::vector<std::pair<std::uint64_t, std::string>> findings;
  std::vector<std::uint64_t> class_counts;
  std::vector<Shape> shapes;
};

class Verifier {
 public:
  Verifier(const Dataset& dataset, std::vector<Sha256>& digests,
           const std::function<void(std::uint64_t, std::uint64_t)>& progress)
      : dataset_(dataset), digests_(digests), progress_(progress) {}

  void run(Part& part) {
    Scratch scratch;
    Buffer pixels;
    for (;;) {
      const std::uint64_t begin = next_.fetch_add(chunk);
      const std::uint64_t end = std::min(begin + chunk, dataset_.size());
      if (begin >= end) return;
      for (std::uint64_t i = begin; i < end; ++i) check(i, part, scratch, pixels);
      report(end - begin);
    }
  }

 private:
  void check(std::uint64_t index, Part& part, Scratch& scratch, Buffer& pixels) {
    try {
      const Sample sample = dataset_.read(index, scratch);
      note_shape(part, sample.shape);
      pixels.resize(sample.shape.bytes());
      decode(sample, pixels);
      digests_[index] = sample_digest(sample.label, {sample.shape, pixels});
      const std::string problem = problem_of(sample);
      if (!problem.empty()) throw Error(problem);
      const auto label = static_cast<std::size_t>(sample.label);
      if (part.class_counts.size() <= label) part.class_counts.resize(label + 1);
      ++part.class_counts[label];
      ++part.samples;
    } catch (const std::exception& error) {  // out of memory too is said of one sample
      part.findings.emplace_back(index, error.what());
    }
  }

  std::string problem_of(const Sample& sample) const {
    const std::optional<Sidecar>& sidecar = dataset_.info().sidecar;
    if (sample.label < 0) return join("the label ", sample.label, " is negative");
    if (static_cast<std::size_t>(sample.label) >= most_classes) {
      return join("the label ", sample.label, " is no class number");
    }
    if (!sidecar) return {};
    if (sidecar->classes != 0 && static_cast<std::uint32_t>(sample.label) >= sidecar->classes) {
      return join("the label ", sample.label, " is not below the ", sidecar->classes,
                  " classes of ", sidecar_name);
    }
    if (sidecar->shape != Shape{} && sample.shape != sidecar->shape) {
      return join("the image is ", sample.shape.height, "x", sample.shape.width, "x",
                  sample.shape.channels, ", not the shape that ", sidecar_name, " states for all");
    }
    if (!sidecar->codec.empty() && sidecar->codec != sample.codec->name()) {
      return join("the image is ", sample.codec->name(), ", ", sidecar_name, " says ",
                  sidecar->codec);
    }
    return {};
  }

  static void note_shape(Part& part, Shape shape) {
    if (part.shapes.size() < most_shapes &&
        std::find(part.shapes.begin(), part.shapes.end(), shape) == part.shapes.end()) {
      part.shapes.push_back(shape);
    }
  }

  void report(std::uint64_t samples) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    done_ += samples;
    progress_(done_, dataset_.size());
  }

  const Dataset& dataset_;
  std::vector<Sha256>& digests_;
  const std::function<void(std::uint64_t, std::uint64_t)>& progress_;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
};

void merge(Part& into, const Part& from) {
  into.samples += from.samples;
  into.findings.insert(into.findings.end(), from.findings.begin(), from.findings.end());
  into.class_counts.resize(std::max(into.class_counts.size(), from.class_counts.size()));
  for (std::size_t i = 0; i < from.class_counts.size(); ++i) {
    into.class_counts[i] += from.class_counts[i];
  }
  into.shapes.insert(into.shapes.end(), from.shapes.begin(), from.shapes.end());
}

// Distinct, in an order that does not depend on which thread met which.
void tidy(std::vector<Shape>& shapes) {
  const auto size = [](const Shape& s) { return std::tuple(s.height, s.width, s.channels); };
  std::sort(shapes.begin(), shapes.end(),
            [&](const Shape& a, const Shape& b) { return size(a) < size(b); });
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  shapes.resize(std::min(shapes.size(), most_shapes));
}

void compare_with_sidecar(const DatasetInfo& info, Verification& result) {
  if (!info.sidecar) return;
  const auto find = [&](std::string problem) {
    result.findings.push_back({(info.path / sidecar_name).string(), std::move(problem)});
  };
  if (info.sidecar->count != info.size) {
    find(join("states ", info.sidecar->count, " samples, found ", info.size));
  }
  if (!result.findings.empty()) return;  // a digest of damaged samples tells nothing new
  const bool ordered = container(info.format).keeps_order();
  const std::string& stated = ordered ? info.sidecar->digest : info.sidecar->set_digest;
  const std::string& seen = ordered ? result.digest.digest : result.digest.set_digest;
  if (!stated.empty() && stated != seen) {
    find(join("states the ", ordered ? "" : "set ", "digest ", stated, ", found ", seen));
  }
}

}  // namespace

Verification verify(const Dataset& dataset, unsigned threads,
                    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  Verification result;
  result.sample_digests.resize(dataset.size());
  Verifier verifier(dataset, result.sample_digests, progress);
  std::vector<Part> parts(std::max(threads, 1U));
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      helpers.emplace_back([&verifier, &part = parts[i]] { verifier.run(part); });
    }
    verifier.run(parts.front());
  }
  Part all;
  for (const Part& part : parts) merge(all, part);
  std::sort(all.findings.begin(), all.findings.end());
  for (auto& [index, problem] : all.findings) {
    result.findings.push_back({join("sample ", index), std::move(problem)});
  }
  tidy(all.shapes);
  result.samples = all.samples;
  result.class_counts = std::move(all.class_counts);
  result.shapes = std::move(all.shapes);
  result.digest = dataset_digest(result.sample_digests);
  compare_with_sidecar(dataset.info(), result);
  return result;
}

}  // namespace feedrate
