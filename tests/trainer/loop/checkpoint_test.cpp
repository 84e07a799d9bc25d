#include "trainer/loop/checkpoint.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/base/bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"
#include "tests/trainer/batches.h"
#include "trainer/graph/changes.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using testing::expect_error;
using testing::RandomSource;
using testing::TempDirectory;
namespace fs = std::filesystem;

Graph tiny(std::string name = "tiny", std::int64_t units = 4) {
  Builder b(std::move(name), {3, 2, 1}, 2);
  return b.softmax_loss(b.dense(b.relu(b.dense(b.input(1), units, {})), 2, {}));
}

std::unique_ptr<Session> session_of(Graph graph, bool trains = true) {
  auto session =
      backend("cpu").compile(make_plan(std::move(graph), 4),
                             {.threads = 1, .optimizer = trains ? &optimizer("sgd") : nullptr});
  initialise(*session, 1);
  return session;
}

Graph normed() {
  Builder b("tiny", {3, 2, 1}, 2);
  return b.softmax_loss(b.dense(b.batch_norm(b.dense(b.input(1), 3, {}), {}), 2, {}));
}

const Position position{.network = "tiny", .seed = 1, .step = 7, .epoch = 2, .batch = 3};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

void write(const fs::path& file, std::string_view content) {
  std::ofstream(file, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

// A checkpoint in parts, which a test can damage and write again.
struct Parts {
  nlohmann::ordered_json header;
  std::string data;

  explicit Parts(const fs::path& file) {
    const std::string all = read(file);
    const auto length = load_le<std::uint64_t>(reinterpret_cast<const std::byte*>(all.data()));
    header = nlohmann::ordered_json::parse(all.substr(8, length));
    data = all.substr(8 + length);
  }
  std::string together() const {
    const std::string json = header.dump();
    const std::uint64_t length = json.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + json + data;
  }
};

TEST(UnitCheckpoint, gives_back_parameters_state_and_position) {
  const TempDirectory directory;
  const auto saved = session_of(tiny());
  RandomSource source({.shape = {3, 2, 1}, .classes = 2, .batch = 4});
  saved->upload(*source.next());
  saved->train_step({}, 0);  // so that the state is not zero
  save_checkpoint(directory / "a", *saved, position);

  const auto loaded = session_of(tiny());
  const Position found = load_checkpoint(directory / "a", *loaded);
  EXPECT_EQ(found.network, "tiny");
  EXPECT_EQ(found.seed, 1U);
  EXPECT_EQ(found.step, 7U);
  EXPECT_EQ(found.epoch, 2U);
  EXPECT_EQ(found.batch, 3U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(loaded->parameter(i), saved->parameter(i));
    EXPECT_EQ(loaded->state(i, 0), saved->state(i, 0));
  }
  EXPECT_NE(loaded->state(0, 0), std::vector<float>(24));
}

TEST(UnitCheckpoint, running_statistics_are_kept_without_state_of_the_optimizer) {
  const TempDirectory directory;
  const auto saved = session_of(normed());
  RandomSource source({.shape = {3, 2, 1}, .classes = 2, .batch = 4});
  saved->upload(*source.next());
  saved->train_step({}, 0);
  save_checkpoint(directory / "a", *saved, position);
  const nlohmann::ordered_json header = Parts(directory / "a").header;
  EXPECT_TRUE(header.contains("batch_norm1.running_var"));
  EXPECT_TRUE(header.contains("optimizer.0.batch_norm1.weight"));
  EXPECT_FALSE(header.contains("optimizer.0.batch_norm1.running_var"));

  const auto loaded = session_of(normed());
  load_checkpoint(directory / "a", *loaded);
  EXPECT_EQ(loaded->parameter(5), saved->parameter(5));
  EXPECT_NE(loaded->parameter(5), std::vector<float>(3, 1));
}

TEST(UnitCheckpoint, replaces_an_older_one_and_leaves_nothing_beside_it) {
  const TempDirectory directory;
  const auto session = session_of(tiny());
  write(directory / "a", "older");
  save_checkpoint(directory / "a", *session, position);
  load_checkpoint(directory / "a", *session);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1);
}

TEST(UnitCheckpoint, a_session_that_only_evaluates_needs_no_state) {
  const TempDirectory directory;
  save_checkpoint(directory / "trained", *session_of(tiny()), position);
  const auto judge = session_of(tiny(), false);
  load_checkpoint(directory / "trained", *judge);
  save_checkpoint(directory / "bare", *judge, position);
  expect_error([&] { load_checkpoint(directory / "bare", *session_of(tiny())); },
               {"bare", "no tensor 'optimizer.0.dense1.weight'"});
}

TEST(UnitCheckpoint, of_pixels_scaled_otherwise_is_refused) {
  const TempDirectory directory;
  save_checkpoint(directory / "a", *session_of(tiny()), position);
  Graph scaled = tiny();
  apply({.means = {120}, .deviations = {64}}, scaled);
  for (const bool trains : {true, false}) {
    expect_error([&] { load_checkpoint(directory / "a", *session_of(scaled, trains)); },
                 {"a", "pixels with mean 0, scale 1, not with mean 120, scale 0.015625", "preset"});
  }
}

TEST(UnitCheckpoint, of_pixels_scaled_alike_is_read_in_whatever_words_that_was_asked_for) {
  const TempDirectory directory;
  const auto colours = [](const Changes& changes) {
    Builder b("tiny", {3, 2, 3}, 2);
    Graph graph = b.softmax_loss(b.dense(b.input(1), 2, {}));
    apply(changes, graph);
    return session_of(graph);
  };
  save_checkpoint(directory / "a", *colours({}), position);
  load_checkpoint(directory / "a", *colours({.means = {0, 0, 0}, .deviations = {1}}));
  expect_error(
      [&] {
        load_checkpoint(directory / "a", *colours({.means = {0, 0, 7}}));
      },
      {"mean 0, scale 1, not with mean 0, mean2 7, scale 1"});
}

TEST(UnitCheckpoint, keeps_the_terms_of_the_training) {
  const TempDirectory directory;
  const auto session = session_of(tiny());
  Position trained = position;
  trained.terms = {{"--lr", "0.01"}, {"--init", ""}};
  save_checkpoint(directory / "a", *session, trained);
  EXPECT_EQ(load_checkpoint(directory / "a", *session).terms, trained.terms);
  save_checkpoint(directory / "older", *session, position);
  EXPECT_TRUE(load_checkpoint(directory / "older", *session).terms.empty());
}

TEST(UnitCheckpoint, that_does_not_say_how_pixels_were_scaled_is_read) {
  const TempDirectory directory;
  const auto session = session_of(tiny());
  save_checkpoint(directory / "a", *session, position);
  Parts parts(directory / "a");
  parts.header["__metadata__"].erase("pixels");
  write(directory / "older", parts.together());
  EXPECT_EQ(load_checkpoint(directory / "older", *session).step, position.step);
}

TEST(HostileCheckpoint, cut_at_any_byte_it_is_refused_and_the_session_unchanged) {
  const TempDirectory directory;
  const auto session = session_of(tiny());
  save_checkpoint(directory / "whole", *session, position);
  const std::string whole = read(directory / "whole");
  std::vector<std::vector<float>> before;
  for (std::size_t i = 0; i < 4; ++i) before.push_back(session->parameter(i));
  for (std::size_t length = 0; length < whole.size(); length += length < 64 ? 1 : 13) {
    write(directory / "cut", whole.substr(0, length));
    expect_error([&] { load_checkpoint(directory / "cut", *session); }, {"cut: "});
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(session->parameter(i), before[i]);
}

TEST(HostileCheckpoint, no_flipped_bit_of_the_header_breaks_more_than_an_error_can_say) {
  const TempDirectory directory;
  const auto session = session_of(tiny());
  save_checkpoint(directory / "whole", *session, position);
  const std::string whole = read(directory / "whole");
  const std::size_t header_end = whole.size() - Parts(directory / "whole").data.size();
  int refused = 0;
  for (std::size_t bit = 0; bit < header_end * 8; bit += 3) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write(directory / "damaged", damaged);
    try {
      load_checkpoint(directory / "damaged",
                      *session);  // the damage may only have changed a digit of the position
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("damaged"), std::string_view::npos);
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(HostileCheckpoint, a_header_that_lies_is_refused_in_words) {
  const TempDirectory directory;
  const auto session = session_of(tiny());
  save_checkpoint(directory / "whole", *session, position);
  const auto refused = [&](const auto& damage, std::initializer_list<std::string_view> parts) {
    Parts damaged(directory / "whole");
    damage(damaged);
    write(directory / "lie", damaged.together());
    expect_error([&] { load_checkpoint(directory / "lie", *session); }, parts);
  };
  const std::string w = "dense1.weight", b = "dense1.bias";
  refused([&](Parts& p) { p.header[w]["dtype"] = "F16"; }, {w, "expected dtype F32", "F16"});
  refused([&](Parts& p) { p.header[w]["shape"] = {6, 4}; }, {w, "[4,6]", "[6,4]"});
  refused([&](Parts& p) { p.header[w]["shape"] = {4, 7}; }, {w, "does not fill 96 bytes"});
  refused([&](Parts& p) { p.header[w]["shape"] = {1LL << 62, 8}; }, {w, "does not fill"});
  refused([&](Parts& p) { p.header[w]["shape"] = {-4, -6}; }, {w, "not a list of sizes"});
  refused([&](Parts& p) { p.header[w]["shape"] = "big"; }, {w, "not a list"});
  refused([&](Parts& p) { p.header[w]["data_offsets"] = {96, 0}; }, {w, "bytes 96 to 0"});
  refused([&](Parts& p) { p.header[w]["data_offsets"] = {0, 1 << 20}; }, {w, "truncated?"});
  refused([&](Parts& p) { p.header[w]["data_offsets"] = {0}; }, {w, "two byte positions"});
  refused([&](Parts& p) { p.header[b]["data_offsets"] = {0, 16}; }, {"overlap or leave gaps"});
  refused([&](Parts& p) { p.header.erase(b); }, {"overlap or leave gaps"});
  refused([&](Parts& p) { p.header[w].erase("shape"); }, {w, "expected dtype, shape"});
  refused([&](Parts& p) { p.header[w] = 3; }, {w, "expected dtype, shape"});
  refused([&](Parts& p) { p.data += "more"; }, {"the tensors end at byte"});
  refused([&](Parts& p) { p.header.erase("__metadata__"); }, {"'network'", "written by feedrate?"});
  refused([&](Parts& p) { p.header["__metadata__"]["step"] = "seven"; }, {"'step'", "seven"});
  for (const char* terms : {"none", "[]", "3", R"({"--lr": 3})", R"([["--lr", "3"]])"}) {
    refused([&](Parts& p) { p.header["__metadata__"]["terms"] = terms; }, {"'terms'", "of texts"});
  }
  // Zero, not a power of two, above the maximum.
  for (const char* scale : {"0", "3", "33554432"}) {
    const auto lie = [&](Parts& p) {
      p.header["__metadata__"]["loss_scale"] = scale;
      p.header["__metadata__"]["loss_scale_steps"] = "7";
    };
    refused(lie, {"'loss_scale'", "power of two", scale});
  }
  refused([&](Parts& p) { p.header["__metadata__"]["loss_scale"] = "4"; }, {"'loss_scale_steps'"});
  refused([&](Parts& p) { p.header = {1, 2}; }, {"not a JSON object"});
  refused(
      [&](Parts& p) {
        p.header["stranger"] = {
            {"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {p.data.size(), p.data.size() + 4}}};
        p.data += "four";
      },
      {"'stranger'", "does not belong to this network"});
}

TEST(HostileCheckpoint, a_weight_that_is_not_finite_is_named) {
  const TempDirectory directory;
  const auto session = session_of(tiny());
  std::vector<float> weights = session->parameter(0);
  weights[3] = std::numeric_limits<float>::infinity();
  session->set_parameter(0, weights);
  save_checkpoint(directory / "a", *session, position);
  expect_error([&] { load_checkpoint(directory / "a", *session_of(tiny())); },
               {"a: tensor " + session->plan().graph.parameters[0].name, "value 3 is inf"});
}

TEST(HostileCheckpoint, another_networks_checkpoint_is_refused_by_name) {
  const TempDirectory directory;
  const auto session = session_of(tiny("other"));
  save_checkpoint(directory / "a", *session, {.network = "other"});
  expect_error([&] { load_checkpoint(directory / "a", *session_of(tiny())); },
               {"network other", "not of tiny"});
  expect_error([&] { load_checkpoint(directory / "a", *session_of(tiny("other", 5))); },
               {"dense1.weight", "[5,6]", "[4,6]"});
  expect_error([&] { load_checkpoint(directory / "none", *session); }, {"none"});
}

TEST(HostileCheckpoint, a_directory_that_is_not_there_is_named) {
  const TempDirectory directory;
  expect_error([&] { save_checkpoint(directory / "no/where", *session_of(tiny()), position); },
               {"no/where"});
}

TEST(InteropCheckpoint, pythons_safetensors_reads_it) {
  if (std::system("python3 -c 'import safetensors.numpy' 2>/dev/null") != 0) {
    GTEST_SKIP() << "python3 has no package safetensors";
  }
  const TempDirectory directory;
  const auto session = session_of(tiny());
  save_checkpoint(directory / "a", *session, position);
  write(directory / "read.py",
        "import sys, safetensors, safetensors.numpy as s\n"
        "t = s.load_file(sys.argv[1])\n"
        "m = safetensors.safe_open(sys.argv[1], 'numpy').metadata()\n"
        "print(len(t), *t['dense1.weight'].shape, m['step'], "
        "float(t['dense1.weight'][1][2]).hex())\n");
  const fs::path out = directory / "out";
  ASSERT_EQ(std::system(
                join("python3 ", directory / "read.py", " ", directory / "a", " > ", out).c_str()),
            0);
  std::ifstream answer(out);
  int tensors = 0, rows = 0, columns = 0, step = 0;
  std::string value;
  answer >> tensors >> rows >> columns >> step >> value;
  EXPECT_EQ(tensors, 8);
  EXPECT_EQ(rows, 4);
  EXPECT_EQ(columns, 6);
  EXPECT_EQ(step, 7);
  EXPECT_EQ(std::strtof(value.c_str(), nullptr), session->parameter(0)[8]);
}

}  // namespace
}  // namespace feedrate::trainer
