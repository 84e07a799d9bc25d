#pragma once
// The batches of a run.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "loader/loader.h"
#include "tools/lab/jobs/open.h"

namespace feedrate::tools {

/// What all loaders of a run share: threads, pixels and memory as the session takes them, and this
/// rank's part of each batch.
loader::LoaderOptions loader_options(const TrainingRequest& request, const Opened& opened,
                                     const trainer::Session& session);

/// Called with the number of a batch, from 0.
struct FeedCalls {
  std::function<void(std::uint64_t number)> asked;  // before it is waited for
  std::function<void(std::uint64_t number, const loader::Batch& batch)> came{};  // optional
};

/// The dataset's batches or, when resident, a few of them again and again. Ends when the request's
/// time is up, counted from the second batch: the first one pays for the set-up. One thread.
class Feed : public loader::BatchSource {
 public:
  Feed(const TrainingRequest& request, const Opened& opened, loader::LoaderOptions options,
       FeedCalls calls);
  const loader::Batch* next() override;
  formats::Shape shape() const override { return source().shape(); }
  std::uint32_t batch_size() const override { return source().batch_size(); }
  const loader::Loader& loader() const { return *loader_; }

 private:
  loader::BatchSource& source() const;
  bool time_is_up();

  double seconds_;
  FeedCalls calls_;
  std::unique_ptr<loader::Loader> loader_;
  std::unique_ptr<loader::Replay> resident_;  // null: not resident
  std::uint64_t taken_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace feedrate::tools
