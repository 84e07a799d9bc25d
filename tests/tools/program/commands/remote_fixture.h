#pragma once
// A dataset on a server of the tests, for commands that read it by its URL.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "formats/codec.h"
#include "formats/container.h"
#include "tests/support/range_server.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::tools {

class CommandsRemote : public ::testing::Test {
 protected:
  CommandsRemote() {
    testing::write_dataset(formats::container("recordio"), formats::png_codec, root_ / "set",
                           testing::make_examples({20, 16, 3}, 40));
  }
  std::string url() const { return server_.url() + "/set/"; }
  std::string local() const { return (root_ / "set").string(); }
  /// Of ranges.
  void slow_down(std::chrono::milliseconds delay = std::chrono::milliseconds(100)) {
    server_.set_faults([=](const testing::ServedRequest& request) {
      return request.headers.contains("range") ? testing::Fault{.delay = delay} : testing::Fault{};
    });
  }

  /// Ranges that reach the end of the data. Counting requests would not do: where a conversion hashes
  /// its inputs first, one request brings everything.
  void refuse_end(int status) {
    const std::uint64_t end = std::filesystem::file_size(root_ / "set" / "data.rec") - 100;
    server_.set_faults([=](const testing::ServedRequest& request) {
      const auto range = request.headers.find("range");
      if (range == request.headers.end() || !request.path.ends_with("data.rec"))
        return testing::Fault{};
      const std::string last = range->second.substr(range->second.find('-') + 1);
      return std::stoull(last) >= end ? testing::Fault{.status = status} : testing::Fault{};
    });
  }

  testing::TempDirectory root_;
  testing::RangeServer server_{root_.path()};
};

}  // namespace feedrate::tools
