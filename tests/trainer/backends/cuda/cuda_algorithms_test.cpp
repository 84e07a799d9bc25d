// Convolution engines that are chosen by measurement and stored.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>

#include "formats/base/checksum.h"
#include "tests/support/temp_directory.h"
#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
using namespace formats;
using namespace trainer;

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
    for (const char* name : {"FASTEST", "BROKEN", "ROUNDS", "IDLE", "BROKEN_AFTER", "IMAGES"}) {
      unsetenv(join("FEEDRATE_EMULATED_", name).c_str());
    }
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
  // Places in the emulated cuDNN's list: one engine with two choices for its knobs, both of which
  // work in fp32; one that uses tensor cores; and the fallback.
  static constexpr std::size_t one = 7, other = 8, tensor_cores = 6, fallback = 9;
  static void tell_fastest(std::size_t place) {
    setenv("FEEDRATE_EMULATED_FASTEST", std::to_string(place).c_str(), 1);
  }
  using Counts = decltype(EmulatedCounts::convolutions);
  static Counts only(std::size_t place, std::size_t runs) {
    Counts counts{};
    counts[place] = runs;
    return counts;
  }
  // Four forward, four for filters, three for data: the pixels need no gradient.
  static constexpr std::size_t step_of_all = 11;

  // The middle two have the same shape; the input pixels of the first are padded to four channels.
  static Graph graph() {
    Builder b("four", {8, 8, 3}, 5);
    auto x = b.conv(b.input(0.01), 3, 3, 1, 1, {});
    x = b.conv(b.conv(x, 3, 3, 1, 1, {}), 3, 3, 1, 1, {});
    x = b.conv(x, 4, 3, 2, 1, {});
    return b.softmax_loss(b.dense(x, 5, {}));
  }

  struct Used {
    Counts before;  // convolutions that ran when the session was compiled, by the engine's place
    Counts step;    // convolutions that ran in one training step
    std::vector<ProductEngine> engines;
    std::size_t measured() const { return std::accumulate(before.begin(), before.end(), 0UL); }
  };
  Used train_a_step(const std::string& precision = "fp32") const {
    const auto now = [] { return emulated_counts().convolutions; };
    const auto difference = [](const auto& a, const auto& b) {
      Counts result{};
      for (std::size_t i = 0; i < result.size(); ++i) result[i] = a[i] - b[i];
      return result;
    };
    const auto start_of_all = now();
    const auto session = start(*cuda_, graph(), 4, optimizer("sgd"), precision);
    const auto compiled = now();
    session->upload(RandomBatch(graph(), 4, 1).batch());
    session->train_step(settings, 0);
    session->wait();
    const auto engines = session->engines();
    return {difference(compiled, start_of_all),
            difference(now(), compiled),
            {engines.begin(), engines.end()}};
  }

  // Changes the key or engine of every line and gives it the right checksum.
  static std::string changed(const std::string& text,
                             const std::function<void(std::string&, std::string&)>& change) {
    std::istringstream in(text);
    std::string result, line;
    std::getline(in, result);
    result += '\n';
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      std::string checksum, milliseconds, engine, key;
      for (std::string* field : {&checksum, &milliseconds, &engine, &key}) {
        std::getline(fields, *field, '\t');
      }
      change(key, engine);
      const std::string rest = join(milliseconds, '\t', engine, '\t', key);
      result += join(crc32c(as_bytes(rest)), '\t', rest, '\n');
    }
    return result;
  }

  TempDirectory directory_;
};

INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaAlgorithms, ::testing::Values(Device::emulated),
                         device_label);

// Three shapes forward, three for filters, two for data; for each, four runs of two engines.
constexpr std::size_t choices_of_all = 3 + 3 + 2;
constexpr std::size_t runs_of_all = choices_of_all * 2 * 4;

TEST_P(CudaAlgorithms, the_fastest_deterministic_one_is_found_once_and_kept) {
  tell_fastest(other);
  const Used first = train_a_step();
  EXPECT_EQ(first.step, only(other, step_of_all));
  EXPECT_EQ(first.before[one] + first.before[other], runs_of_all);
  EXPECT_EQ(first.measured(), runs_of_all) << "an engine ran that breaks our promises";
  EXPECT_EQ(lines(text()), 1 + choices_of_all) << text();

  tell_fastest(one);  // no effect: what is stored is not measured again
  const std::string kept = text();
  const Used second = train_a_step();
  EXPECT_EQ(second.measured(), 0U);
  EXPECT_EQ(second.step, first.step);
  EXPECT_EQ(text(), kept);
  for (const char* part :
       {"emulated GPU; cuDNN 9", "fp32 x 4x3x8x8", "stride 2", "\t0.500000\t7 2=4 14=3\t"}) {
    EXPECT_NE(kept.find(part), std::string::npos) << part << " in " << kept;
  }
}

TEST_P(CudaAlgorithms, tensor_cores_are_for_all_but_fp32) {
  tell_fastest(tensor_cores);
  EXPECT_EQ(train_a_step("fp32").step[tensor_cores], 0U);
  for (const char* precision : {"tf32", "bf16", "fp16"}) {
    EXPECT_EQ(train_a_step(precision).step, only(tensor_cores, step_of_all)) << precision;
  }
  EXPECT_EQ(lines(text()), 1 + 4 * choices_of_all) << "one type's choices are not another's";
}

TEST_P(CudaAlgorithms, one_that_fails_when_run_is_passed_over) {
  tell_fastest(other);
  setenv("FEEDRATE_EMULATED_BROKEN", "8", 1);
  EXPECT_EQ(train_a_step().step, only(one, step_of_all));
}

// What an engine does is measured, not only read: the notes of one that rounds do not say so.
TEST_P(CudaAlgorithms, one_that_does_not_compute_what_it_says_is_passed_over) {
  tell_fastest(other);
  setenv("FEEDRATE_EMULATED_ROUNDS", "8", 1);
  const Used used = train_a_step("fp32");
  EXPECT_EQ(used.step, only(one, step_of_all));
  const ProductEngine& engine = used.engines.front();
  ASSERT_EQ(engine.passed_over.size(), 1U);
  EXPECT_TRUE(engine.passed_over[0].ends_with(" times what rounding explains"))
      << engine.passed_over[0];
  EXPECT_EQ(train_a_step("tf32").step, only(other, step_of_all)) << "there it may";
  EXPECT_EQ(train_a_step("bf16").step, only(other, step_of_all)) << "16 bits are not rounded";
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  setenv("FEEDRATE_EMULATED_ROUNDS", "7", 1);
  EXPECT_EQ(train_a_step("fp32").step, only(other, step_of_all)) << "nothing is measured";
}

// The one before has left right results in the same memory.
TEST_P(CudaAlgorithms, one_that_writes_nothing_is_passed_over) {
  setenv("FEEDRATE_EMULATED_IDLE", "8", 1);
  tell_fastest(other);
  const std::string idle = "7 2=4 14=3 errs by infinitely many times what rounding explains";
  for (const char* precision : {"fp32", "bf16"}) {
    const Used used = train_a_step(precision);
    EXPECT_EQ(used.step[other], 0U) << precision;
    EXPECT_EQ(used.engines.front().passed_over, std::vector{idle}) << precision;
  }
  setenv("FEEDRATE_EMULATED_ROUNDS", "79", 1);
  write("");
  EXPECT_EQ(train_a_step("fp32").step[other], 0U) << "all are wrong, others less";
}

TEST_P(CudaAlgorithms, where_none_computes_what_it_says_the_best_is_taken_and_told) {
  setenv("FEEDRATE_EMULATED_ROUNDS", "789", 1);
  const Used used = train_a_step("fp32");
  EXPECT_EQ(std::accumulate(used.step.begin(), used.step.end(), 0UL), step_of_all);
  for (const ProductEngine& engine : used.engines) {
    if (engine.fallback.empty()) continue;  // kept from an earlier product of that shape
    EXPECT_TRUE(engine.fallback.starts_with(join("engine ", engine.name, " errs by ")) &&
                engine.fallback.ends_with("times what rounding explains"))
        << engine.node << ", " << engine.name << ": " << engine.fallback;
    for (const std::string& other : engine.passed_over) {
      EXPECT_FALSE(other.starts_with(join(engine.name, " errs"))) << engine.node << ": " << other;
    }
  }
}

TEST_P(CudaAlgorithms, one_that_is_hopeless_runs_once) {
  tell_fastest(one);  // the other takes three times as long
  EXPECT_EQ(train_a_step().measured(), choices_of_all * (4 + 2)) << "tried out, and timed once";
}

TEST_P(CudaAlgorithms, where_none_of_the_fast_ones_works_there_is_what_works_anywhere) {
  setenv("FEEDRATE_EMULATED_BROKEN", "678", 1);
  const Used first = train_a_step();
  EXPECT_EQ(first.step, only(fallback, step_of_all));
  const Used second = train_a_step();
  EXPECT_EQ(second.measured(), 0U) << "kept as any other";
  EXPECT_EQ(second.step, first.step);
  const std::string& why = first.engines.front().fallback;
  EXPECT_NE(why.find("cudnnBackendExecute"), std::string::npos) << why;
  for (const ProductEngine& engine : second.engines) {
    EXPECT_EQ(engine.fallback, "cuDNN offers it as a fallback") << "what failed is not kept";
  }
}

TEST_P(CudaAlgorithms, a_session_tells_what_runs_each_product) {
  tell_fastest(tensor_cores);
  for (const bool cached : {false, true}) {
    const std::vector<ProductEngine> engines = train_a_step("bf16").engines;
    ASSERT_EQ(engines.size(), step_of_all);
    const ProductEngine& first = engines.front();
    EXPECT_EQ(first.node, "conv1");
    EXPECT_EQ(first.product, "convolution");
    EXPECT_EQ(first.name, "6 14=3");
    EXPECT_EQ(first.notes, std::vector<std::string>{"tensor core"});
    EXPECT_EQ(first.milliseconds, 0.5F) << "cached: " << cached;
    for (const ProductEngine& engine : engines) EXPECT_EQ(engine.fallback, "") << engine.node;
  }
  EXPECT_EQ(train_a_step("fp32").engines.front().fallback, "") << "fp32 asks for no tensor cores";
  setenv("FEEDRATE_EMULATED_BROKEN", "6", 1);
  write("");
  EXPECT_EQ(train_a_step("tf32").engines.front().fallback, "it does not use tensor cores");
}

// A small convolution may be faster without tensor cores, which is no reason to warn.
TEST_P(CudaAlgorithms, an_engine_that_was_faster_than_those_with_tensor_cores_is_no_fallback) {
  tell_fastest(other);
  for (const bool cached : {false, true}) {
    const Used used = train_a_step("tf32");
    EXPECT_EQ(used.step, only(other, step_of_all));
    for (const ProductEngine& engine : used.engines) {
      EXPECT_EQ(engine.fallback, "") << engine.node << ", cached: " << cached;
    }
  }
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  setenv("FEEDRATE_EMULATED_BROKEN", "6", 1);
  EXPECT_EQ(train_a_step("tf32").engines.front().fallback, "it does not use tensor cores")
      << "nothing was measured";
}

TEST_P(CudaAlgorithms, what_was_measured_before_a_session_fails_is_kept) {
  tell_fastest(other);
  const auto& runs = emulated_counts().convolutions;
  const std::size_t of_one_choice = 2 * 4;
  setenv("FEEDRATE_EMULATED_BROKEN_AFTER",
         std::to_string(std::accumulate(runs.begin(), runs.end(), 3 * of_one_choice + 2)).c_str(),
         1);
  expect_error([&] { train_a_step(); }, {"cudnnBackendExecute"});
  EXPECT_EQ(lines(text()), 1U + 3) << text();
  unsetenv("FEEDRATE_EMULATED_BROKEN_AFTER");
  EXPECT_EQ(train_a_step().measured(), runs_of_all - 3 * of_one_choice);
}

TEST_P(CudaAlgorithms, where_none_works_at_all_the_error_names_the_layer) {
  setenv("FEEDRATE_EMULATED_BROKEN", "6789", 1);
  expect_error([&] { train_a_step(); }, {"conv1", "4x3x8x8", "cudnnBackendExecute"});
}

TEST_P(CudaAlgorithms, where_a_batch_needs_too_much_workspace_it_runs_in_parts) {
  tell_fastest(other);
  setenv("FEEDRATE_EMULATED_IMAGES", "2", 1);  // of the batch of 4
  const Used first = train_a_step();
  EXPECT_EQ(first.step, only(other, 2 * step_of_all));
  for (const ProductEngine& engine : first.engines) {
    EXPECT_EQ(engine.name, "7 2=4 14=3 in 2 parts");
    EXPECT_EQ(engine.fallback, "") << engine.node;
    EXPECT_EQ(engine.milliseconds, 2 * 0.5F) << "of both parts";
  }
  const Used second = train_a_step();
  EXPECT_EQ(second.measured(), 0U) << "kept as any other";
  EXPECT_EQ(second.step, first.step);
  for (const char* engine : {"7 2=4 14=3", "7 2=4 14=3 in 0 parts", "7 2=4 14=3 in 3 parts"}) {
    write(changed(text(), [&](std::string&, std::string& taken) { taken = engine; }));
    EXPECT_EQ(train_a_step().step, first.step) << engine;
  }
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  EXPECT_EQ(train_a_step().step, only(one, 2 * step_of_all)) << "the first that is fast";
}

// Sums over parts would be rounded to 16 bits between them.
TEST_P(CudaAlgorithms, gradients_of_filters_in_16_bits_run_in_no_parts) {
  tell_fastest(tensor_cores);
  setenv("FEEDRATE_EMULATED_IMAGES", "2", 1);
  const Used used = train_a_step("bf16");
  EXPECT_EQ(used.step[tensor_cores], 2U * (4 + 3));
  EXPECT_EQ(used.step[fallback], 4U);
  for (const ProductEngine& engine : used.engines) {
    const bool filters = engine.product == "gradient of a convolution's filters";
    EXPECT_EQ(!engine.fallback.empty(), filters) << engine.fallback;
  }
}

TEST_P(CudaAlgorithms, parts_follow_the_cpu) {
  setenv("FEEDRATE_EMULATED_IMAGES", "2", 1);
  expect_parity(graph(), 4, 3);
}

TEST_P(CudaAlgorithms, gradients_that_nobody_wants_are_not_chosen_for) {
  SessionOptions to_infer;
  const std::size_t before = emulated_counts().convolutions[one];
  cuda_->compile(make_plan(graph(), 4), to_infer);
  // Three shapes, four runs of this engine.
  EXPECT_EQ(emulated_counts().convolutions[one] - before, 3U * 4);
  EXPECT_EQ(text().find("gradient"), std::string::npos) << text();
}

TEST_P(CudaAlgorithms, a_damaged_line_is_measured_anew_and_the_others_are_not) {
  tell_fastest(other);
  train_a_step();
  const std::string whole = text();
  std::string damaged = whole;
  const std::size_t at = damaged.rfind(" 2=4 ");
  ASSERT_NE(at, std::string::npos);
  damaged[at + 3] = '2';  // another choice of the knob, also deterministic
  write(damaged);
  const Used again = train_a_step();
  EXPECT_EQ(again.measured(), 2U * 4);
  EXPECT_EQ(again.step[other], step_of_all);
  EXPECT_EQ(text(), whole);
}

TEST_P(CudaAlgorithms, a_file_that_is_none_of_ours_is_written_anew) {
  tell_fastest(other);
  train_a_step();
  const std::string whole = text();
  const std::string older = join("feedrate algorithms 1", whole.substr(whole.find('\n')));
  for (const std::string& unknown :
       {std::string(), std::string("\0\xff\n\t\t\n", 6), older,
        std::string("feedrate algorithms 3"), whole.substr(8), whole.substr(0, whole.size() / 2)}) {
    write(unknown);
    EXPECT_EQ(train_a_step().step[other], step_of_all);
    EXPECT_EQ(text(), whole);
  }
  write(older);
  EXPECT_EQ(train_a_step().measured(), runs_of_all) << "what an older version wrote is not read";
}

TEST_P(CudaAlgorithms, what_another_version_of_the_library_took_is_not_asked) {
  tell_fastest(other);
  train_a_step();
  write(changed(text(),
                [](std::string& key, std::string&) { key.replace(key.find("; cuDNN"), 9, ""); }));
  EXPECT_EQ(train_a_step().measured(), runs_of_all);
}

// The checksum is right, but the engine is not deterministic, or cuDNN does not offer it.
TEST_P(CudaAlgorithms, what_does_not_keep_our_promises_is_not_taken_from_a_file) {
  tell_fastest(other);
  train_a_step();
  const std::string whole = text();
  for (const char* engine : {"0", "1 2=4", "6 14=3", "7", "7 2=5 14=3", "77", ""}) {
    write(changed(whole, [&](std::string&, std::string& taken) { taken = engine; }));
    const Used used = train_a_step();
    EXPECT_EQ(used.measured(), runs_of_all) << engine;
    EXPECT_EQ(used.step[other], step_of_all);
    EXPECT_EQ(text(), whole);
  }
}

TEST_P(CudaAlgorithms, what_was_kept_and_cannot_be_built_any_more_is_measured_anew) {
  tell_fastest(other);
  train_a_step();
  const std::string whole = text();
  for (const char* engine : {"3 2=1", "4 2=1"}) {  // needs too much workspace; cannot be built
    write(changed(whole, [&](std::string&, std::string& taken) { taken = engine; }));
    EXPECT_EQ(train_a_step().step[other], step_of_all) << engine;
    EXPECT_EQ(text(), whole);
  }
}

TEST_P(CudaAlgorithms, where_nothing_can_be_kept_nothing_is_chosen_by_the_clock) {
  tell_fastest(other);
  for (const char* place : {"/dev/null", "/proc/self"}) {
    setenv("XDG_CACHE_HOME", place, 1);
    const Used used = train_a_step();
    EXPECT_EQ(used.before[other], 0U) << place;
    EXPECT_EQ(used.step, only(one, step_of_all)) << "the first that works";
  }
}

}  // namespace
}  // namespace feedrate::testing
