#pragma once
// Ranks that are forked processes of one test. They share memory, which stands in for MPI.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "tests/support/shared_barrier.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::testing {

struct Shared {
  static constexpr unsigned max_ranks = 2;
  SharedBarrier barrier;
  double values[max_ranks][256];
  std::byte bytes[1024];
};

/// A rank that takes no pieces of a conversion.
class TrainingRank : public trainer::Communicator {
 public:
  std::uint64_t take() override { return no_more; }
  void answer_others() override {}
  void stop_taking() override {}
  void wait_for_all() override {}
};

/// Stands in for MPI between forked processes.
class ForkedRank final : public TrainingRank {
 public:
  ForkedRank(Shared& shared, unsigned rank, unsigned ranks)
      : shared_(shared), rank_(rank), ranks_(ranks) {}
  unsigned rank() const override { return rank_; }
  unsigned ranks() const override { return ranks_; }
  void begin_sum(std::span<float>) override {
    throw formats::Error("gradients do not go by the host");
  }
  void progress() override {}
  void finish() override {}
  void sum(std::span<double> values) override {
    std::copy(values.begin(), values.end(), shared_.values[rank_]);
    shared_.barrier.wait(ranks_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 0;
      for (unsigned r = 0; r < ranks_; ++r) values[i] += shared_.values[r][i];
    }
    shared_.barrier.wait(ranks_);
  }
  void broadcast(formats::MutableBytes bytes) override {
    ASSERT_LE(bytes.size(), sizeof shared_.bytes);
    if (rank_ == 0) std::ranges::copy(bytes, shared_.bytes);
    shared_.barrier.wait(ranks_);
    std::copy_n(shared_.bytes, bytes.size(), bytes.begin());
    shared_.barrier.wait(ranks_);
  }
  void close() override {}

 private:
  Shared& shared_;
  unsigned rank_, ranks_;
};

}  // namespace feedrate::testing
