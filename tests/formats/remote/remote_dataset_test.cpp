// Datasets of a web server: the same samples as from disk, whatever the server does.

#include "formats/remote_dataset.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <random>
#include <regex>

#include "formats/base/pages.h"
#include "formats/io/file.h"
#include "formats/io/late_bytes.h"
#include "formats/io/mapped_file.h"
#include "formats/remote/fetcher.h"
#include "formats/remote/remote_object.h"
#include "formats/remote/stand_in.h"
#include "formats/sidecar.h"
#include "formats/verify/verify.h"
#include "tests/formats/remote/remote_fixture.h"
#include "tests/support/make_parquet.h"

namespace feedrate::formats {
namespace {

using namespace std::chrono_literals;

class UnitRemoteFormats : public UnitRemote, public ::testing::WithParamInterface<const char*> {};

TEST_P(UnitRemoteFormats, a_directory_gives_the_samples_of_the_disk_to_any_number_of_threads) {
  write(GetParam());
  const auto dataset = open_dataset(url());
  EXPECT_TRUE(dataset->info().is_remote());
  EXPECT_EQ(dataset->info().format, GetParam());
  for (const unsigned threads : {1U, 8U}) EXPECT_EQ(digests_of(*dataset, threads), local());
}

TEST_P(UnitRemoteFormats, so_it_does_without_its_index) {
  write(GetParam());
  for (const auto& entry : fs::directory_iterator(root_ / "set")) {
    if (entry.path().extension() == ".idx") fs::remove(entry.path());
  }
  EXPECT_EQ(digests_of(*open_dataset(url())), local());
}

TEST_P(UnitRemoteFormats, one_file_names_it_where_the_server_lists_nothing) {
  write(GetParam());
  const auto on_disk = open_dataset(root_ / "set");
  Scratch scratch;
  const std::string file = on_disk->place(0).file.filename().string();
  server_.set_faults([](const ServedRequest& request) {
    return request.path.ends_with('/') ? Fault{.status = 403} : Fault{};
  });
  EXPECT_EQ(digests_of(*open_dataset(url("set/" + file))), local());
}

TEST_P(UnitRemoteFormats, verify_finds_it_whole) {
  write(GetParam());
  const auto dataset = open_dataset(url());
  std::string findings;
  dataset->audit(
      [&](const Finding& found) { findings += found.place + ": " + found.problem + "\n"; });
  EXPECT_EQ(findings, "");
}

TEST_P(UnitRemoteFormats, what_a_server_does_wrong_for_a_while_changes_nothing) {
  write(GetParam());
  const std::vector<std::string> expected = local();
  std::atomic<std::uint64_t> wrong{0};
  server_.set_faults([&](const ServedRequest& request) -> Fault {
    std::mt19937_64 random(request.number * 7919 + 1);
    const auto kind = random() % 8;
    if (kind > 4) return {};
    ++wrong;
    if (kind == 0) return {.status = 503, .headers = "Retry-After: 0\r\n"};
    if (kind == 1) return {.resets = true};
    if (kind == 2) return {.cut_after = random() % 3000};
    if (kind == 3) return {.status = 429};
    return {.delay = 30ms};
  });
  const auto dataset = open_dataset(url());
  EXPECT_EQ(digests_of(*dataset, 4), expected);
  EXPECT_GT(wrong.load(), 0U);
}

INSTANTIATE_TEST_SUITE_P(, UnitRemoteFormats,
                         ::testing::Values("recordio", "tfrecord", "webdataset"),
                         [](const auto& row) { return std::string(row.param); });

TEST_F(UnitRemote, a_sample_takes_one_request) {
  write("recordio");
  const auto dataset = open_dataset(url());
  const std::size_t before = server_.requests().size();
  EXPECT_EQ(digests_of(*dataset),
            local());  // one of several readers may ask for what another has used
  EXPECT_GE(server_.requests().size() - before, samples);
  EXPECT_LE(server_.requests().size() - before,
            samples + 1);  // behind the last sample comes the first
}

// An index of DALI's 1.1 names no members: the header behind a sample says where it ends.
TEST_F(UnitRemote, of_a_tar_beside_its_index_no_more_is_fetched_than_its_samples) {
  write("webdataset");
  const fs::path tar = open_dataset(root_ / "set")->place(0).file;
  const auto bytes = [&] {
    std::uint64_t sum = 0;
    for (const ServedRequest& request : server_.requests()) {
      const auto range = request.headers.find("range");
      if (range == request.headers.end() || !request.path.ends_with(".tar")) continue;
      const std::string text = range->second.substr(std::string_view("bytes=").size());
      sum += std::stoull(text.substr(text.find('-') + 1)) + 1 - std::stoull(text);
    }
    return sum;
  };
  constexpr std::uint64_t first_sample = 8192;  // at most, with the header behind it
  constexpr std::uint64_t opening =
      4096 + 1024 + first_sample;  // what kind of file, the end marker
  ASSERT_GT(fs::file_size(tar), 20 * opening);
  const auto named = open_dataset(url());
  EXPECT_LE(bytes(), opening);
  const fs::path index = fs::path(tar).replace_extension(".idx");
  std::string text =
      std::regex_replace(read_text(index), std::regex(" [^ \n]*[.][^ \n]*(?= |\n)"), "");
  text.replace(0, text.find(' '), "v1.1");
  std::ofstream(index) << text;
  const std::uint64_t before = bytes();
  const auto unnamed = open_dataset(url());
  EXPECT_LE(bytes() - before, opening);
  EXPECT_EQ(digests_of(*unnamed), local());
  EXPECT_LE(bytes() - before, 4 * opening + fs::file_size(tar) + samples * std::uint64_t{1024});
}

TEST_F(UnitRemote, what_is_here_is_not_asked_for_again) {
  write("recordio");
  const auto dataset = open_dataset(url());
  const MappedFile file(dataset->place(0).file);
  const auto late = late_bytes_at(file.map());
  ASSERT_NE(late, nullptr);
  const Bytes map = late->map();
  const std::size_t half = map.size() / 2;
  const Held first = hold(map.first(half)), second = hold(map.subspan(half));
  const std::uint64_t before = server_.requests().size();
  EXPECT_TRUE(std::dynamic_pointer_cast<RemoteObject>(late)->has(map));
  late->ask(map.subspan(half - 100, 200));  // of both
  late->ask(map.subspan(10, 20));
  const Held again = hold(map.subspan(half - 100, 200));
  EXPECT_EQ(server_.requests().size(), before);
}

TEST_F(UnitRemote, what_came_before_a_break_is_not_asked_for_again) {
  write("webdataset");
  // Without an index it is read in large pieces.
  fs::remove(fs::path(open_dataset(root_ / "set")->place(0).file).replace_extension(".idx"));
  server_.set_faults([](const ServedRequest& request) {
    return request.headers.contains("range") ? Fault{.cut_after = 9000} : Fault{};
  });
  const auto dataset = open_dataset(url());
  EXPECT_EQ(dataset->size(), samples);
  const std::uint64_t size = fs::file_size(dataset->place(0).file);
  const auto requests = server_.requests();
  const auto pieces = std::ranges::count_if(
      requests, [](const ServedRequest& request) { return request.headers.contains("range"); });
  EXPECT_GE(static_cast<std::uint64_t>(pieces), size / 9000);
  EXPECT_LE(static_cast<std::uint64_t>(pieces), size / 9000 + 8);
}

TEST_F(UnitRemote, connections_stay_and_are_few_when_nobody_waits_long) {
  write("recordio");
  const auto dataset = open_dataset(url());
  const std::uint64_t before = server_.connections();
  digests_of(*dataset, 2);
  EXPECT_LE(server_.connections() - before, 8U);
}

TEST_F(UnitRemote, memory_is_given_back_once_samples_are_used) {
  write("recordio");
  const auto dataset = open_dataset(url());
  digests_of(*dataset, 4);
  dataset->info().stand_in->let_go();  // what its readers asked for and did not read
  Bytes map;
  {
    Scratch scratch;
    const Bytes bytes = dataset->read(0, scratch).bytes;
    map = late_bytes_at(bytes)->map();
    const std::uint64_t pages = round_up(bytes.size(), page_bytes()) / page_bytes() + 2;
    std::vector<unsigned char> resident(round_up(map.size(), page_bytes()) / page_bytes());
    ASSERT_EQ(::mincore(const_cast<std::byte*>(map.data()), map.size(), resident.data()), 0);
    const auto count = std::ranges::count_if(resident, [](unsigned char page) { return page & 1; });
    EXPECT_GT(count, 0);
    EXPECT_LE(static_cast<std::uint64_t>(count), pages);
  }
}

TEST_F(UnitRemote, an_object_that_changes_is_an_error_with_its_name) {
  write("recordio");
  const auto dataset = open_dataset(url());
  Scratch scratch;
  digest_of(*dataset, 0, scratch);
  server_.set_faults([](const ServedRequest&) { return Fault{.etag = "\"other\""}; });
  expect_error([&] { digests_of(*dataset, 2); },
               {url("set/data.rec"), "was changed while it was being read"});
}

TEST_F(UnitRemote, so_it_is_when_the_server_ignores_conditions) {
  write("recordio");
  const auto dataset = open_dataset(url());
  server_.set_faults(
      [](const ServedRequest&) { return Fault{.etag = "\"other\"", .ignores_conditions = true}; });
  expect_error([&] { digests_of(*dataset); },
               {url("set/data.rec"), "was changed while it was being read", "found \"other\""});
}

TEST_F(UnitRemote, a_range_of_no_stated_version_is_refused) {
  write("recordio");
  const auto dataset = open_dataset(url());
  server_.set_faults([](const ServedRequest& request) {
    return Fault{.states_no_version = request.headers.contains("range"),
                 .ignores_conditions = true};
  });
  expect_error([&] { digests_of(*dataset); },
               {"data.rec", "no longer says which version it sends"});
}

// libcurl takes headers that end early for all of them.
TEST_F(UnitRemote, answers_that_are_cut_within_their_headers_are_asked_for_again) {
  write("recordio");
  for (const bool refuses_head : {false, true}) {
    if (refuses_head) server_.refuse_head();
    for (std::size_t cut = 1; cut < 200; cut += 9) {
      std::atomic<bool> cuts{true};
      server_.set_faults([&](const ServedRequest& request) {
        const bool is_file = !request.path.ends_with('/') && request.path != "/set";
        return is_file && cuts.exchange(false) ? Fault{.cut_head_after = cut} : Fault{};
      });
      const auto dataset = open_dataset(url());
      cuts = true;
      ASSERT_EQ(digests_of(*dataset), local()) << cut << refuses_head;
    }
  }
}

TEST_F(UnitRemote, nothing_that_a_server_lists_is_left_out) {
  write("webdataset");
  const std::string file = open_dataset(root_ / "set")->place(0).file.filename().string();
  fs::remove(root_ / "set" / sidecar_name);
  fs::path next = root_ / "set" / file;
  next.replace_filename(std::string(file).replace(file.find("000000"), 6, "000001"));
  fs::copy_file(root_ / "set" / file, next);
  server_.set_faults([&](const ServedRequest& request) {
    return request.path.ends_with(next.filename().string()) ? Fault{.status = 403} : Fault{};
  });
  expect_error([&] { (void)open_dataset(url()); },
               {url("set/" + next.filename().string()), "is in the server's list, but ", "403"});
}

TEST_F(UnitRemote, columns_behind_a_url_are_not_the_servers) {
  write("recordio");
  expect_error([&] { (void)open_dataset(url("set/data.rec?label=fine")); },
               {"data.rec?label=fine"});
  for (const ServedRequest& request : server_.requests()) {
    EXPECT_EQ(request.path.find('?'), std::string::npos) << request.path;
  }
}

TEST_F(UnitRemote, a_signed_url_names_a_column) {
  std::string png;
  {
    Buffer encoded;
    png_codec.encode(make_examples({4, 4, 3}, 1).front().image, encoded);
    png = as_text(encoded);
  }
  write_text(root_ / "a.parquet",
             as_text(testing::make_parquet({{png, 1}}, {.label = "fine", .more = "coarse"})));
  EXPECT_EQ(open_dataset(url("a.parquet?Id=1&label=coarse&Sig=2"))->size(), 1U);
  for (const ServedRequest& request : server_.requests()) {
    EXPECT_TRUE(request.path.ends_with("?Id=1&Sig=2")) << request.path;
  }
  expect_error([&] { (void)open_dataset(url("a.parquet?label=none&Sig=2")); },
               {url("a.parquet: has no column 'none'")});
  expect_error([&] { (void)open_dataset(url("a.parquet?lable=fine")); }, {"found 'lable'"});
  expect_error([&] { (void)open_dataset(url("?label=")); },
               {url("?label=: expected ?label=NAME")});
}

TEST_F(UnitRemote, a_range_that_comes_as_200_is_taken_when_it_has_its_length) {
  write("recordio");
  const auto dataset = open_dataset(url());
  server_.set_faults([](const ServedRequest&) { return Fault{.says_200 = true}; });
  EXPECT_EQ(digests_of(*dataset, 2), local());
}

TEST_F(UnitRemote, an_address_that_is_signed_for_get_alone_is_read) {
  write("recordio");
  server_.refuse_head();
  server_.set_faults([](const ServedRequest& request) {
    const bool is_signed = request.path.ends_with("?signature=of-this-file");
    const bool is_file = request.path.starts_with("/set/data.rec");
    return is_signed && is_file ? Fault{} : Fault{.status = 403};
  });
  EXPECT_EQ(open_dataset(url("set/data.rec?signature=of-this-file"))->size(), samples);
}

TEST_F(UnitRemote, blanks_in_a_url_are_sent_encoded) {
  write("recordio", "a b");
  for (const char* name : {"a b/", "a%20b/", "a b", "a b/data.rec"}) {
    EXPECT_EQ(digests_of(*open_dataset(url(name))), local("a b")) << name;
  }
}

TEST_F(UnitRemote, a_pattern_names_tars) {
  write("webdataset");
  const std::string file = open_dataset(root_ / "set")->place(0).file.filename().string();
  std::string pattern = file;
  pattern.replace(file.find("000000"), 6, "{000000..000000}");
  EXPECT_EQ(digests_of(*open_dataset(url("set/" + pattern))), local());
}

TEST_F(UnitRemote, formats_of_pages_and_small_files_are_refused) {
  write("lmdb");
  expect_error([&] { (void)open_dataset(url()); }, {"lmdb", "from files of this machine alone"});
  write("folder", "images");
  for (const char* name : {"images/", "images"}) {
    expect_error([&] { (void)open_dataset(url(name)); },
                 {url("images/"), "holds no dataset, but directories (", "an object to find"});
  }
}

TEST_F(UnitRemote, a_forked_process_reads_on) {
  write("recordio");
  const std::vector<std::string> expected = local();
  const auto dataset = open_dataset(url());
  EXPECT_EQ(digests_of(*dataset), expected);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(digests_of(*dataset, 2) == expected ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(digests_of(*dataset), expected);
}

TEST_F(UnitRemote, children_read_whatever_their_parents_threads_are_doing) {
  write("recordio");
  const std::vector<std::string> expected = local();
  const TempDirectory cache;
  RemoteSettings cached;
  cached.cache_dir = cache.path().string();
  for (const RemoteSettings& settings : {RemoteSettings{}, cached}) {
    const auto dataset = open_dataset(url(), settings);
    std::atomic<bool> stop{false};
    std::jthread reader([&] {
      while (!stop) (void)digests_of(*dataset, 2);
    });
    for (int round = 0; round < 20; ++round) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::alarm(60);  // ends a child that waits for ever
        const bool reads = digests_of(*dataset) == expected;
        ::_exit(reads && digests_of(*open_dataset(url(), settings)) == expected ? 0 : 1);
      }
      int status = 0;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0) << round;
      if (status != 0) break;
    }
    stop = true;
  }
}

TEST_F(UnitRemote, nothing_is_left_in_the_temporary_directory) {
  write("recordio");
  const TempDirectory place;
  const std::string before = fs::temp_directory_path();
  ::setenv("TMPDIR", place.path().c_str(), 1);
  const fs::path left_behind = place / "feedrate-remote-killed";
  fs::create_directory(left_behind);
  {
    const auto dataset = open_dataset(url());
    EXPECT_FALSE(fs::exists(left_behind));
    EXPECT_FALSE(fs::is_empty(place.path()));
  }
  EXPECT_TRUE(fs::is_empty(place.path()));
  ::setenv("TMPDIR", before.c_str(), 1);
}

}  // namespace
}  // namespace feedrate::formats
