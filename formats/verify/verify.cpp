#include "formats/verify/verify.h"

#include <algorithm>
#include <tuple>

#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/label_problem.h"
#include "formats/base/stop.h"
#include "formats/digests/fingerprint.h"
#include "formats/verify/checks.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t max_shapes = 16;        // distinct shapes that are listed
constexpr std::size_t max_classes = 1 << 20;  // counted; larger labels are findings

// One thread's part of the result. Findings carry their sample, so they can be sorted by index.
struct Part {
  Scratch scratch;
  Buffer pixels;
  std::uint64_t looked_at = 0;
  std::uint64_t samples = 0;
  std::uint64_t decoded = 0;
  DetailsDigest details;
  std::uint64_t boxes_left_out = 0;
  std::vector<std::pair<std::uint64_t, Finding>> findings;
  std::vector<std::uint64_t> class_counts;
  std::map<std::string, std::uint64_t, std::less<>> codecs;
  std::vector<Shape> shapes;
};

class Verifier {
 public:
  Verifier(const Dataset& dataset, unsigned threads, Verification& result)
      : dataset_(dataset), info_(dataset.info()), parts_(threads), digests_(result.sample_digests) {
    digests_.resize(dataset.size());
    stored_.resize(dataset.size());
    facts_.images.resize(dataset.size());
    facts_.names.resize(dataset.size());
    facts_.labels.resize(dataset.size());
  }

  /// False: stopped on request.
  bool run(const ProgressCallback& progress) {
    const auto work = [this](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) check(i, parts_[worker]);
    };
    try {
      sweep(dataset_.size(), static_cast<unsigned>(parts_.size()), work, progress);
    } catch (const Stopped&) {
      return false;
    }
    return true;
  }

  const SampleFacts& facts() const { return facts_; }
  const CropCheck& crops() const { return crops_; }
  void collect(Verification& result);
  void digest(Verification& result) const;

 private:
  void check(std::uint64_t index, Part& part) {
    ++part.looked_at;
    Sample sample;
    try {
      sample = dataset_.read(index, part.scratch);
      note_sample(index, sample, part);
      part.pixels.resize(sample.shape.bytes());
      const std::string doubt = decode_strictly(sample, part.pixels);
      digests_[index] = sample_digest(sample.label, {sample.shape, part.pixels});
      const std::uint64_t shape = fingerprint(std::as_bytes(std::span(&sample.shape, 1)));
      facts_.images[index] = fingerprint(part.pixels, shape);
      stored_[index] = sample.codec == &raw_codec ? raw_stored_digest(digests_[index])
                                                  : stored_digest(sample.label, sample.bytes);
      ++part.decoded;
      crops_.check(index, sample);
      dataset_.expect_as_written(index, sample);
      part.boxes_left_out += sample.boxes_left_out;
      if (!doubt.empty()) {
        throw Error(join(sample.codec->name(), " image is read, but may be damaged: ", doubt));
      }
      const std::string problem = problem_of(sample);
      if (!problem.empty()) throw Error(problem);
      const auto label = static_cast<std::size_t>(sample.label);
      if (part.class_counts.size() <= label) part.class_counts.resize(label + 1);
      ++part.class_counts[label];
      part.details.add(index, dataset_.details(index, part.scratch));  // ends the sample's life
      ++part.samples;
    } catch (const std::exception& error) {  // out of memory, too, is reported for one sample
      if (part.findings.size() == max_findings) return;
      const std::string name = sample.name.empty() ? "" : join(" (", sample.name, ")");
      part.findings.emplace_back(index, Finding{join("sample ", index, name), error.what()});
    }
  }

  void note_sample(std::uint64_t index, const Sample& sample, Part& part) {
    facts_.labels[index] = sample.label;
    if (!sample.name.empty()) facts_.names[index] = fingerprint(as_bytes(sample.name));
    const auto codec = part.codecs.find(sample.codec->name());
    if (codec != part.codecs.end()) {
      ++codec->second;
    } else {
      part.codecs.emplace(sample.codec->name(), 1);
    }
    if (part.shapes.size() < max_shapes &&
        std::find(part.shapes.begin(), part.shapes.end(), sample.shape) == part.shapes.end()) {
      part.shapes.push_back(sample.shape);
    }
  }

  std::string problem_of(const Sample& sample) const {
    const std::uint64_t classes =
        info_.classes != 0 ? info_.classes : info_.class_names.names.size();
    std::string problem = label_problem(sample.label, classes);
    if (!problem.empty()) return problem;
    if (static_cast<std::size_t>(sample.label) >= max_classes) {
      return join("the label ", sample.label, " is not a class number");
    }
    if (sample.extras_damaged)
      return "a file beside the image is damaged: image and label are sound";
    problem = label_space_problem(info_, sample);
    if (!problem.empty() || !info_.sidecar) return problem;
    const Sidecar& sidecar = *info_.sidecar;
    if (sidecar.shape != Shape{} && sample.shape != sidecar.shape) {
      return join("the image is ", sample.shape.height, "x", sample.shape.width, "x",
                  sample.shape.channels, ", not the shape that ", sidecar_name, " states for all");
    }
    if (!sidecar.codec.empty() && sidecar.codec != "mixed" &&
        sidecar.codec != sample.codec->name()) {
      return join("the image is ", sample.codec->name(), ", ", sidecar_name, " says ",
                  sidecar.codec);
    }
    return {};
  }

  const Dataset& dataset_;
  const DatasetInfo& info_;
  std::vector<Part> parts_;
  std::vector<Sha256>& digests_;
  std::vector<StoredDigest> stored_;
  SampleFacts facts_;
  CropCheck crops_{dataset_};
};

// Sorts and removes duplicates, so that the order does not depend on the threads.
void tidy(std::vector<Shape>& shapes) {
  const auto size = [](const Shape& s) { return std::tuple(s.height, s.width, s.channels); };
  std::sort(shapes.begin(), shapes.end(),
            [&](const Shape& a, const Shape& b) { return size(a) < size(b); });
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  shapes.resize(std::min(shapes.size(), max_shapes));
}

void Verifier::collect(Verification& result) {
  std::vector<std::pair<std::uint64_t, Finding>> findings;
  std::uint64_t decoded = 0;
  DetailsDigest details;
  for (Part& part : parts_) {
    result.looked_at += part.looked_at;
    details.add(part.details);
    result.samples += part.samples;
    decoded += part.decoded;
    findings.insert(findings.end(), part.findings.begin(), part.findings.end());
    result.class_counts.resize(std::max(result.class_counts.size(), part.class_counts.size()));
    for (std::size_t i = 0; i < part.class_counts.size(); ++i) {
      result.class_counts[i] += part.class_counts[i];
    }
    for (const auto& [codec, samples] : part.codecs) result.codecs[codec] += samples;
    result.shapes.insert(result.shapes.end(), part.shapes.begin(), part.shapes.end());
  }
  tidy(result.shapes);
  // Each thread read its samples in order, so the earliest findings of all are among those kept.
  std::sort(findings.begin(), findings.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  findings.resize(std::min(findings.size(), max_findings));
  for (auto& [index, finding] : findings) result.findings.push_back(std::move(finding));
  const std::uint64_t faulty = result.looked_at - result.samples;
  if (faulty > findings.size()) {
    result.findings.push_back({shown_path(info_.path), join("and ", faulty - findings.size(),
                                                            " more samples with a finding")});
  }
  std::uint64_t boxes_left_out = 0;
  for (const Part& part : parts_) boxes_left_out += part.boxes_left_out;
  if (boxes_left_out != 0) {
    result.notes.push_back({shown_path(info_.path), counted_as(boxes_left_out, "stated box is none",
                                                               "stated boxes are none")});
  }
  if (decoded != dataset_.size()) return;
  result.details_digest = details.text();
  digest(result);
}

template <class T>
std::vector<T> arranged(const std::vector<T>& values, const std::vector<std::uint64_t>& order) {
  std::vector<T> result;
  result.reserve(order.size());
  for (const std::uint64_t index : order) result.push_back(values[index]);
  return result;
}

void Verifier::digest(Verification& result) const {
  result.digest = dataset_digest(digests_);
  result.bytes_digest = ordered_digest(stored_);
  const auto order = dataset_.written_order();
  if (!order) return;
  const bool as_read = order->empty();
  result.written_digest =
      as_read ? result.digest.digest : ordered_digest(arranged(digests_, *order));
  result.written_bytes_digest =
      as_read ? result.bytes_digest : ordered_digest(arranged(stored_, *order));
}

}  // namespace

Verification verify(const Dataset& dataset, unsigned threads, const ProgressCallback& progress) {
  Verification result;
  Verifier verifier(dataset, std::max(threads, 1U), result);
  result.complete = verifier.run(progress);
  verifier.collect(result);
  if (!result.complete) return result;
  for (const std::string& note : dataset.info().notes) {
    result.notes.push_back({shown_path(dataset.info().path), note});
  }
  dataset.audit([&](Finding finding) { result.findings.push_back(std::move(finding)); });
  verifier.crops().report(result);
  check_sidecar(dataset, result);
  check_repeats(dataset, verifier.facts(), result);
  check_classes(dataset, result);
  check_means(dataset, result);
  check_published_counts(dataset, result);
  return result;
}

}  // namespace feedrate::formats
