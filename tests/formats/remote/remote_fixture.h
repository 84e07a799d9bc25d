#pragma once
// A dataset beside a server of its directory, and what is read of both.

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "formats/codec.h"
#include "formats/container.h"
#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"
#include "tests/support/range_server.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {

namespace fs = std::filesystem;
using testing::Example, testing::expect_error, testing::Fault, testing::make_examples;
using testing::RangeServer, testing::ServedRequest, testing::TempDirectory, testing::write_dataset;

inline constexpr std::uint32_t samples = 60;

// Of one sample: its bytes, label and name.
inline std::string digest_of(const Dataset& dataset, std::uint64_t index, Scratch& scratch) {
  const Sample sample = dataset.read(index, scratch);
  Hasher hasher;
  hasher.add(sample.bytes);
  hasher.add(as_bytes(sample.name));
  hasher.add(std::as_bytes(std::span(&sample.label, 1)));
  return hex(hasher.finish());
}

inline std::vector<std::string> digests_of(const Dataset& dataset, unsigned threads = 1) {
  std::vector<std::string> all(dataset.size());
  std::atomic<std::uint64_t> next{0};
  std::vector<std::thread> readers;
  std::mutex mutex;
  std::string problem;
  for (unsigned i = 0; i < threads; ++i) {
    readers.emplace_back([&] {
      Scratch scratch;
      try {
        for (std::uint64_t at = next++; at < all.size(); at = next++) {
          const std::uint64_t index = (at * 37) % all.size();  // 37 and 60 share no factor
          dataset.look_ahead((index + 37) % all.size());
          all[index] = digest_of(dataset, index, scratch);
        }
      } catch (const std::exception& error) {
        const std::lock_guard lock(mutex);
        problem = error.what();
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  if (!problem.empty()) throw Error(problem);
  return all;
}

class UnitRemote : public ::testing::Test {
 protected:
  void write(const std::string& format, const std::string& name = "set") {
    write_dataset(container(format), png_codec, root_ / name,
                  make_examples({40, 30, 3}, samples, true));
  }
  std::string url(const std::string& name = "set/") const { return server_.url() + "/" + name; }
  std::vector<std::string> local(const std::string& name = "set") const {
    return digests_of(*open_dataset(root_ / name));
  }

  TempDirectory root_;
  RangeServer server_{root_.path()};
};

}  // namespace feedrate::formats
