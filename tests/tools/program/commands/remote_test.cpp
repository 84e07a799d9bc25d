// Commands that read a dataset of a server, with the real binary.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/io/file.h"
#include "tests/support/make_jpeg.h"
#include "tests/support/make_mds.h"
#include "tests/support/mpirun.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tests/tools/program/commands/remote_fixture.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::Fault;
using testing::feedrate;
using testing::make_examples;
using testing::Said;
using testing::ServedRequest;
using testing::write_dataset;

TEST_F(CommandsRemote, load_gives_the_digest_of_the_disk_and_tells_what_was_fetched) {
  const auto here = json::parse(feedrate({"load", local(), "--batch", "8", "--json"}).output);
  const Said said = feedrate({"load", url(), "--batch", "8", "--json"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto there = json::parse(said.output);
  EXPECT_EQ(there.at("digest"), here.at("digest"));
  EXPECT_TRUE(here.at("remote").is_null());
  EXPECT_GE(there.at("remote").at("requests"), 40);
  EXPECT_EQ(there.at("remote").at("repeated"), 0);
  EXPECT_GT(there.at("remote").at("bytes"), 0);
  for (const char* const key :
       {"seconds_per_request", "median_seconds", "p99_seconds", "cpu_seconds_per_request"}) {
    EXPECT_GT(there.at("remote").at(key), 0) << key;
  }
  EXPECT_LE(there.at("remote").at("median_seconds"), there.at("remote").at("p99_seconds"));
  EXPECT_NE(feedrate({"load", url(), "--batch", "8"}).output.find("the server sent "),
            std::string::npos);
}

TEST_F(CommandsRemote, verify_and_inspect_name_the_url_and_not_what_stands_in_for_it) {
  const Said said = feedrate({"verify", url()});
  EXPECT_EQ(said.code, exit_done) << said.errors << said.output;
  EXPECT_EQ(said.output.find(url()), 0U) << said.output;
  EXPECT_EQ(said.output.find("feedrate-remote-"), std::string::npos) << said.output;
  const auto inspected = json::parse(feedrate({"inspect", url(), "--json"}).output);
  EXPECT_EQ(inspected.at("path"), url());
}

TEST_F(CommandsRemote, convert_dataset_writes_the_same_bytes) {
  const std::string from_here = (root_ / "a").string(), from_there = (root_ / "b").string();
  ASSERT_EQ(feedrate({"convert", "dataset", local(), "--to", "tfrecord", "--out", from_here}).code,
            exit_done);
  const Said said =
      feedrate({"convert", "dataset", url(), "--to", "tfrecord", "--out", from_there});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  for (const auto& entry : std::filesystem::directory_iterator(from_here)) {
    const std::filesystem::path other = from_there / entry.path().filename();
    EXPECT_EQ(read_text(entry.path()), read_text(other)) << other;
  }
}

// A server that fails is no damage of a sample: nothing may be left out for it.
TEST_F(CommandsRemote, nothing_leaves_out_what_a_server_refuses) {
  refuse_end(403);
  const std::string out = (root_ / "out").string();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"inspect", url(), "--all"},
           {"load", url(), "--batch", "8", "--on-bad", "skip"},
           {"load", url(), "--batch", "8", "--on-bad", "replace", "--threads", "0"},
           {"load", url(), "--batch", "8", "--on-bad", "replace", "--threads", "2"},
           {"train", url(), "--network", "mlp", "--batch", "8", "--on-bad", "replace"},
           {"convert", "dataset", url(), "--to", "tfrecord", "--on-bad", "skip", "--out", out}}) {
    const Said said = feedrate(words);
    EXPECT_EQ(said.code, exit_failed) << words[0] << ": " << said.output << said.errors;
    EXPECT_NE(said.errors.find("status 403"), std::string::npos) << said.errors;
    EXPECT_EQ(said.errors.find("feedrate verify"), std::string::npos) << said.errors;
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(CommandsRemote, a_conversion_that_a_server_broke_resumes) {
  refuse_end(404);
  const std::string out = (root_ / "out").string();
  const std::vector<std::string> words{"convert",    "dataset", url(), "--to",
                                       "webdataset", "--out",   out,   "--resume"};
  const Said broken = feedrate(words);
  EXPECT_EQ(broken.code, exit_failed);
  EXPECT_NE(broken.errors.find("there is no such object (status 404)"), std::string::npos)
      << broken.errors;
  EXPECT_FALSE(std::filesystem::exists(out));
  server_.set_faults({});
  const Said said = feedrate(words);
  EXPECT_EQ(said.code, exit_done) << said.errors;
  const auto verified = json::parse(feedrate({"verify", out, "--json"}).output);
  const auto original = json::parse(feedrate({"verify", local(), "--json"}).output);
  EXPECT_EQ(verified.at("digest"), original.at("digest"));
}

TEST_F(CommandsRemote, what_needs_files_of_this_machine_says_so) {
  struct Case {
    std::vector<std::string> words;
    std::string reason;
  };
  for (const Case& each :
       {Case{{"index", url()}, "is a URL, expected a path of this machine"},
        Case{{"index", url(), "--crops"}, "is a URL, expected a path of this machine"},
        Case{{"load", url(), "--cold"}, "is on a server, and --cold is for files"}}) {
    const Said said = feedrate(each.words);
    EXPECT_EQ(said.code, exit_failed) << each.words.front();
    EXPECT_NE(said.errors.find(each.reason), std::string::npos) << said.errors;
  }
}

TEST_F(CommandsRemote, secrets_of_a_url_are_told_nowhere) {
  const std::string with_secrets =
      std::string(url()).insert(7, "me:secret@") + "data.rec?signature=secret";
  const std::string log = (root_ / "log.jsonl").string();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"load", with_secrets, "--batch", "8", "--json", "--log", log},
           {"verify", with_secrets, "--json"},
           {"inspect", with_secrets},
           {"mean", with_secrets},
           {"bench", with_secrets, "--threads", "1", "--out", (root_ / "rows").string()},
           {"report", with_secrets},
           {"list", with_secrets},
           {"verify", local(), with_secrets},
           {"load", "--mix", with_secrets + ":x"},
           {"advise", with_secrets, "--target", "10", "--seconds", "0.1"}}) {
    const Said said = feedrate(words);
    EXPECT_EQ((said.output + said.errors).find("secret"), std::string::npos)
        << words.front() << said.output << said.errors;
  }
  EXPECT_EQ(read_text(log).find("secret"), std::string::npos);
}

TEST_F(CommandsRemote, connections_are_those_allowed) {
  server_.set_faults([](const ServedRequest&) { return Fault{.delay = 5ms}; });
  const Said said = feedrate({"load", url(), "--connections", "2", "--batch", "8", "--json"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  EXPECT_LE(json::parse(said.output).at("remote").at("connections"), 2);
  const Said refused = feedrate({"load", "s3://bucket/set/", "--endpoint", "ftp://me:secret@host"});
  EXPECT_EQ(refused.code, exit_misused);
  EXPECT_NE(refused.errors.find("--endpoint: ftp://host: expected a URL"), std::string::npos)
      << refused.errors;
}

TEST_F(CommandsRemote, bench_hands_them_to_its_processes) {
  server_.set_faults([](const ServedRequest&) { return Fault{.delay = 2ms}; });
  const std::uint64_t before = server_.connections();
  const Said said = feedrate({"bench", url(), "--threads", "1", "--connections", "1", "--repeat",
                              "1", "--seconds", "0.1", "--json", "--beside-others"});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  EXPECT_NE(said.output.find("--connections 1"), std::string::npos) << said.output;
  EXPECT_GT(server_.connections(), before);
}

TEST_F(CommandsRemote, a_cache_is_read_in_place_of_the_server_and_cleared) {
  const std::string cache = (root_ / "cache").string();
  const auto loaded = [&] {
    const Said said =
        feedrate({"load", url(), "--batch", "8", "--json", "--cache-dir", cache, "--epochs", "2"});
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return json::parse(said.output);
  };
  const auto here = json::parse(feedrate({"load", local(), "--batch", "8", "--json"}).output);
  const auto first = loaded(), second = loaded();
  EXPECT_EQ(first.at("digest"), here.at("digest"));
  EXPECT_EQ(second.at("digest"), here.at("digest"));
  EXPECT_EQ(second.at("remote").at("bytes"), 0);
  EXPECT_GT(second.at("remote").at("cached_bytes"), 0);
  const auto kept = json::parse(feedrate({"cache", cache, "--json"}).output);
  EXPECT_GT(kept.at("kept"), 0);
  EXPECT_TRUE(kept.at("freed").is_null());
  EXPECT_FALSE(kept.at("objects").at(0).at("in_use"));
  const Said cleared = feedrate({"cache", cache, "--clear"});
  EXPECT_NE(cleared.output.find("0 objects"), std::string::npos) << cleared.output;
  EXPECT_EQ(feedrate({"cache", local()}).code, exit_failed);
}

TEST_F(CommandsRemote, what_opening_brings_into_a_cache_is_counted) {
  const Said said = feedrate({"load", url(), "--batch", "8", "--json", "--no-digest", "--cache-dir",
                              (root_ / "cache").string()});
  ASSERT_EQ(said.code, exit_done) << said.errors;
  const auto remote = json::parse(said.output).at("remote");
  EXPECT_GE(remote.at("requests"), 1);
  EXPECT_GE(remote.at("bytes"), std::filesystem::file_size(root_ / "set" / "data.rec"));
}

TEST_F(CommandsRemote, the_network_is_told_as_the_limit) {
  slow_down();
  const Said said = feedrate({"load", url(), "--batch", "4", "--connections", "1", "--emulate",
                              "1000", "--no-digest", "--threads", "2"});
  EXPECT_NE(said.output.find("The network is the limit"), std::string::npos)
      << said.output << said.errors;
}

// The trainer takes 192 images, of which a busy machine that starts for nine seconds has not read all ahead
// before the first step.
TEST_F(CommandsRemote, a_training_tells_that_the_network_is_its_limit) {
  write_dataset(container("recordio"), png_codec, root_ / "long", make_examples({20, 16, 3}, 240));
  slow_down(50ms);
  const Said said = feedrate({"train", server_.url() + "/long/", "--network", "mlp", "--batch", "8",
                              "--threads", "2", "--connections", "1", "--steps", "24"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  EXPECT_NE(said.output.find("The network is the limit"), std::string::npos)
      << said.output << said.errors;
}

TEST_F(CommandsRemote, a_file_is_verified_with_the_mean_beside_it) {
  const auto at = [&](const char* name) { return (root_ / name).string(); };
  ASSERT_EQ(feedrate({"synth", "mnist", "--images", "20", "--out", at("made")}).code, exit_done);
  ASSERT_EQ(feedrate({"convert", "mnist", at("made"), "--to", "recordio", "--split", "train",
                      "--out", at("digits")})
                .code,
            exit_done);
  ASSERT_TRUE(std::filesystem::exists(root_ / "digits" / "mean.nd"));
  const Said said = feedrate({"verify", server_.url() + "/digits/data.rec"});
  EXPECT_EQ(said.code, exit_done) << said.errors << said.output;
}

TEST_F(CommandsRemote, training_learns_the_same) {
  const auto weights = [&](const std::string& path, const char* name) {
    const std::string file = (root_ / name).string();
    const Said said = feedrate({"train", path, "--network", "lenet", "--recipe", "none", "--batch",
                                "8", "--epochs", "1", "--threads", "2", "--checkpoint", file});
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return read_text(file);
  };
  EXPECT_TRUE(weights(local(), "a.safetensors") == weights(url(), "b.safetensors"));
}

TEST_F(CommandsRemote, so_do_two_ranks_with_and_without_a_cache_that_they_share) {
  if (!testing::has_mpi()) GTEST_SKIP() << "no mpirun is installed, or this build found no MPI";
  const auto weights = [&](const std::string& path, const char* name,
                           const std::vector<std::string>& more) {
    const std::string file = (root_ / name).string();
    std::vector<std::string> words{testing::beside_this_program("feedrate").string(),
                                   "train",
                                   path,
                                   "--network",
                                   "lenet",
                                   "--recipe",
                                   "none",
                                   "--batch",
                                   "8",
                                   "--epochs",
                                   "2",
                                   "--threads",
                                   "1",
                                   "--compute-threads",
                                   "1",
                                   "--checkpoint",
                                   file};
    words.insert(words.end(), more.begin(), more.end());
    const Said said = testing::mpirun(2, words);
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return read_text(file);
  };
  const std::string expected = weights(local(), "a.safetensors", {});
  EXPECT_TRUE(weights(url(), "b.safetensors", {}) == expected);
  const std::string cache = (root_ / "cache").string();
  for (const char* name : {"c.safetensors", "d.safetensors"}) {
    EXPECT_TRUE(weights(url(), name, {"--cache-dir", cache}) == expected) << name;
  }
}

}  // namespace
}  // namespace feedrate::tools
