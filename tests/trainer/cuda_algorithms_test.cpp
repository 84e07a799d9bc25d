// Convolution algorithms chosen by the clock, and kept.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "formats/random.h"
#include "tests/support/temp_directory.h"
#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
namespace {

class CudaAlgorithms : public CudaParity {
 protected:
  void SetUp() override {
    CudaParity::SetUp();
    if (IsSkipped()) return;
    setenv("XDG_CACHE_HOME", directory_.path().c_str(), 1);
  }
  void TearDown() override {
    CudaParity::TearDown();
    unsetenv("FEEDRATE_EMULATED_FASTEST");
  }

  fs::path file() const { return directory_.path() / "feedrate" / "algorithms.txt"; }
  std::string text() const {
    std::ifstream in(file());
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  static std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  static void tell_fastest(int algorithm) {
    setenv("FEEDRATE_EMULATED_FASTEST", std::to_string(algorithm).c_str(), 1);
  }

  // Two convolutions alike, one other.
  static Graph graph() {
    Builder b("three", {8, 8, 3}, 5);
    auto x = b.conv(b.input(0.01), 3, 3, 1, 1, {});
    x = b.conv(b.conv(x, 3, 3, 1, 1, {}), 4, 3, 2, 1, {});
    return b.softmax_loss(b.dense(x, 5, {}));
  }

  struct Used {
    std::array<std::size_t, 4> before;  // convolutions run to compile the session, by algorithm
    std::array<std::size_t, 4> step;    // and to train a step
    std::size_t measured() const { return before[1] + before[2]; }
  };
  Used train_a_step() const {
    const auto now = [] { return emulated_counts().convolutions; };
    const auto difference = [](const auto& a, const auto& b) {
      std::array<std::size_t, 4> result{};
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = a[i] - b[i];
      return result;
    };
    const auto start_of_all = now();
    const auto session = start(*cuda_, graph(), 4);
    const auto compiled = now();
    session->upload(RandomBatch(graph(), 4, 1).batch());
    session->train_step(settings, 0);
    session->wait();
    return {difference(compiled, start_of_all), difference(now(), compiled)};
  }

  // Every line with another key or algorithm, and a sum that is right.
  static std::string changed(const std::string& text,
                             const std::function<void(std::string&, std::string&)>& change) {
    std::istringstream in(text);
    std::string result, line;
    std::getline(in, result);
    result += '\n';
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::string key, algorithm, arithmetic, milliseconds;
      for (std::string* field : {&key, &algorithm, &arithmetic, &milliseconds}) {
        std::getline(fields, *field, '\t');
      }
      change(key, algorithm);
      const std::string start = join(key, '\t', algorithm, '\t', arithmetic, '\t', milliseconds);
      std::uint64_t sum = 0;
      for (const char c : start) sum = mix64(sum ^ static_cast<unsigned char>(c));
      result += join(start, '\t', sum, '\n');
    }
    return result;
  }

  TempDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaAlgorithms, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaAlgorithms, the_fastest_deterministic_one_is_found_once_and_kept) {
  tell_fastest(2);
  const Used first = train_a_step();
  EXPECT_EQ(first.step, (std::array<std::size_t, 4>{0, 0, 8, 0}))  // the pixels want no gradient
      << "three forward, three of filters, two of data";
  // Two shapes, three directions, two algorithms, four runs of each.
  EXPECT_EQ(first.measured(), 2U * 3 * 2 * 4);
  EXPECT_EQ(lines(text()), 1U + 2 * 3) << text();

  tell_fastest(1);  // what is kept is not measured again
  const std::string kept = text();
  const Used second = train_a_step();
  EXPECT_EQ(second.measured(), 0U);
  EXPECT_EQ(second.step, first.step);
  EXPECT_EQ(text(), kept);
  for (const char* part : {"emulated GPU; cuDNN 9", "type 0 4x3x8x8", "stride 2", "0.5"}) {
    EXPECT_NE(kept.find(part), std::string::npos) << part << " in " << kept;
  }
}

TEST_P(CudaAlgorithms, a_damaged_line_is_measured_anew_and_the_others_are_not) {
  tell_fastest(2);
  train_a_step();
  const std::string whole = text();
  std::string damaged = whole;
  const std::size_t at = damaged.rfind("\t2\t");
  ASSERT_NE(at, std::string::npos);
  damaged[at + 1] = '1';  // another algorithm, and a deterministic one
  write(damaged);
  const Used again = train_a_step();
  EXPECT_EQ(again.measured(), 2U * 4);
  EXPECT_EQ(again.step[2], 8U);
  EXPECT_EQ(text(), whole);
}

TEST_P(CudaAlgorithms, a_file_that_is_none_of_ours_is_written_anew) {
  tell_fastest(2);
  train_a_step();
  const std::string whole = text();
  for (const std::string& other :
       {std::string(), std::string("\0\xff\n\t\t\n", 6), std::string("feedrate algorithms 1"),
        whole.substr(8), whole.substr(0, whole.size() / 2)}) {
    write(other);
    EXPECT_EQ(train_a_step().step[2], 8U);
    EXPECT_EQ(text(), whole);
  }
}

TEST_P(CudaAlgorithms, what_another_version_of_the_library_took_is_not_asked) {
  tell_fastest(2);
  train_a_step();
  write(changed(text(),
                [](std::string& key, std::string&) { key.replace(key.find("; cuDNN"), 9, ""); }));
  EXPECT_EQ(train_a_step().measured(), 2U * 3 * 2 * 4);
}

// Its sum is right, but cuDNN does not promise to be deterministic with it.
TEST_P(CudaAlgorithms, what_does_not_keep_our_promises_is_not_taken_from_a_file) {
  tell_fastest(2);
  train_a_step();
  const std::string whole = text();
  for (const char* algorithm : {"0", "3", "77"}) {
    write(changed(whole, [&](std::string&, std::string& taken) { taken = algorithm; }));
    const Used used = train_a_step();
    EXPECT_EQ(used.measured(), 2U * 3 * 2 * 4) << algorithm;
    EXPECT_EQ(used.step[2], 8U);
    EXPECT_EQ(text(), whole);
  }
}

TEST_P(CudaAlgorithms, where_nothing_can_be_kept_nothing_is_chosen_by_the_clock) {
  tell_fastest(2);
  for (const char* place : {"/dev/null", "/proc/self"}) {
    setenv("XDG_CACHE_HOME", place, 1);
    const Used used = train_a_step();
    EXPECT_EQ(used.measured(), 0U) << place;
    EXPECT_EQ(used.step[1], 8U) << "the first that cuDNN offers";
  }
}

}  // namespace
}  // namespace feedrate::testing
