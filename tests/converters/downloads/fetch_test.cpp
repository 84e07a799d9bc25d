#include "converters/downloads/fetch.h"

#include <gtest/gtest.h>

#include "converters/cifar/cifar_layout.h"
#include "converters/source.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/converters/http_server.h"
#include "tests/converters/make_archive.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_files.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

// Two files, "first file\n" and gzip of "content\n", with their hashes by md5sum and sha256sum.
constexpr std::string_view first_content = "first file\n";
constexpr PublishedFile files[] = {
    {"first", 11, "ef5940958c334bb7cfc4f3da6ad0f8c3", "unused"},
    {"second.gz", 28, "00000000000000000000000000000000",
     "434728a410a78f56fc1b5899c3593436e61ab0c731e9072d95e96db290205e53"},
};
constexpr std::string_view no_mirrors[] = {"http://127.0.0.1:1/"};
const Published set("made", "two files", files, no_mirrors);

// Compressed by another gzip than the one of the md5: only its content is right. Once, because gzip
// writes the time.
const std::string& second_content() {
  static const std::string bytes = compressed("content\n");
  return bytes;
}

void serve_both(HttpServer& server) {
  server.files["/first"] = first_content;
  server.files["/second.gz"] = second_content();
}

TEST(UnitFetch, files_come_from_a_server_and_are_not_fetched_twice) {
  const TempDirectory directory;
  HttpServer server;
  serve_both(server);
  const fs::path out = directory / "a/b";
  EXPECT_EQ(fetch(set, out, {.from = server.url()}), 2U);
  EXPECT_EQ(read_text(out / "first"), first_content);
  EXPECT_EQ(read_text(out / "second.gz"), second_content());
  EXPECT_FALSE(fs::exists(out / "first.partial"));
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(fetch(set, out, {.from = server.url()}), 0U);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST(UnitFetch, a_directory_and_a_file_url_do_as_well) {
  const TempDirectory directory;
  fs::create_directory(directory / "from");
  write(directory / "from/first", std::string(first_content));
  write(directory / "from/second.gz", second_content());
  EXPECT_EQ(fetch(set, directory / "a", {.from = (directory / "from").string()}), 2U);
  EXPECT_EQ(fetch(set, directory / "b", {.from = "file://" + (directory / "from").string()}), 2U);
  fs::create_directory(directory / "odd:");
  fs::rename(directory / "from", directory / "odd:/from");
  EXPECT_EQ(fetch(set, directory / "c", {.from = directory.path().string() + "/odd://from"}), 2U)
      << "no scheme has a slash";
  EXPECT_EQ(read_text(directory / "b/first"), first_content);
}

TEST(UnitFetch, a_full_disk_is_not_blamed_on_the_source) {
  const TempDirectory directory;
  fs::create_directory(directory / "from");
  write(directory / "from/first", std::string(first_content));
  const SmallFiles files_are_small(4);
  expect_error([&] { fetch(set, directory / "a", {.from = (directory / "from").string()}); },
               {"a/first.partial: cannot write", "File too large"});
  EXPECT_FALSE(fs::exists(directory / "a"));
}

TEST(UnitFetch, what_an_earlier_run_left_is_continued) {
  const TempDirectory directory;
  HttpServer server;
  serve_both(server);
  write(directory / "first.partial", "first");
  fetch(set, directory.path(), {.from = server.url()});
  EXPECT_EQ(server.requests().front(), "GET /first from 5");
  EXPECT_EQ(read_text(directory / "first"), first_content);
}

TEST(UnitFetch, what_is_all_there_but_its_name_is_only_renamed) {
  const TempDirectory directory;
  HttpServer server;
  serve_both(server);
  write(directory / "first.partial", std::string(first_content));
  fetch(set, directory.path(), {.from = server.url()});
  EXPECT_EQ(server.requests().front(), "GET /first from 11");
  EXPECT_EQ(read_text(directory / "first"), first_content);
}

TEST(UnitFetch, a_server_that_cannot_continue_sends_all_again) {
  const TempDirectory directory;
  HttpServer server;
  serve_both(server);
  server.ranges = false;
  write(directory / "first.partial", "first");
  fetch(set, directory.path(), {.from = server.url()});
  EXPECT_EQ(read_text(directory / "first"), first_content);
}

TEST(UnitFetch, a_connection_that_breaks_is_taken_up_where_it_broke) {
  const TempDirectory directory;
  HttpServer server;
  serve_both(server);
  server.cut_after = 8;
  fetch(set, directory.path(), {.from = server.url()});
  const auto requests = server.requests();
  ASSERT_GE(requests.size(), 2U);
  EXPECT_EQ(requests[1], "GET /first from 8");
  EXPECT_EQ(read_text(directory / "first"), first_content);
}

TEST(HostileFetch, a_start_of_another_file_is_not_built_upon) {
  const TempDirectory directory;
  HttpServer server;
  serve_both(server);
  write(directory / "first.partial", "wrong");
  fetch(set, directory.path(), {.from = server.url()});
  EXPECT_EQ(read_text(directory / "first"), first_content);
}

TEST(HostileFetch, a_wrong_hash_says_expected_and_found_and_leaves_no_file) {
  const TempDirectory directory;
  HttpServer server;
  server.files["/first"] = "first fool\n";
  expect_error([&] { fetch(set, directory.path(), {.from = server.url()}); },
               {"first", "expected md5 ef5940958c334bb7cfc4f3da6ad0f8c3 and 11 bytes",
                "found b1ddff7df6f01555212570cea93a9631"});
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(HostileFetch, a_page_in_place_of_the_file_is_called_one) {
  const TempDirectory directory;
  HttpServer server;
  server.files["/first"] = "<!DOCTYPE html><html><body>moved";
  expect_error([&] { fetch(set, directory.path(), {.from = server.url()}); },
               {"expected md5", "looks like an HTML page"});
}

// A tar has no content hash: only its md5 counts.
TEST(HostileFetch, without_a_hash_of_the_content_another_packing_is_refused) {
  const TempDirectory directory;
  HttpServer server;
  constexpr PublishedFile tars[] = {{"a.tar.gz", 200, "00000000000000000000000000000000", ""}};
  const Published one("tar", "a tar", tars, no_mirrors);
  for (const std::string& content : {tar_gz({{"a", "x"}}), compressed(""), std::string("x")}) {
    server.files["/a.tar.gz"] = content;
    expect_error([&] { fetch(one, directory / "out", {.from = server.url()}); },
                 {"a.tar.gz", "expected md5 0000", "and 200 bytes, found"});
  }
  server.files["/a.tar.gz"] = "<html><body>moved";
  expect_error([&] { fetch(one, directory / "out", {.from = server.url()}); }, {"an HTML page"});
}

TEST(UnitFetch, every_published_file_has_a_size_a_hash_and_a_mirror) {
  for (const Published* published : published_sets()) {
    SCOPED_TRACE(published->name());
    EXPECT_FALSE(published->files().empty());
    for (const PublishedFile& file : published->files()) {
      EXPECT_GT(file.bytes, 1000U);
      EXPECT_EQ(file.md5.size(), 32U);
      EXPECT_TRUE(file.content_sha256.empty() || file.content_sha256.size() == 64) << file.name;
    }
    for (const std::string_view mirror : published->mirrors()) {
      EXPECT_TRUE(mirror.starts_with("http") && mirror.ends_with('/')) << mirror;
    }
  }
}

TEST(UnitFetch, cifar_comes_in_the_binary_packaging) {
  for (const CifarLayout* layout : {&cifar10_layout, &cifar100_layout}) {
    const auto published = published_set(layout->source).files();
    ASSERT_EQ(published.size(), 1U);
    EXPECT_EQ(cifar_archive_packaging(*layout, published.front().name), CifarPackaging::binary);
  }
}

TEST(HostileFetch, a_file_that_is_not_there_is_named_with_every_mirror) {
  const TempDirectory directory;
  HttpServer server;
  expect_error([&] { fetch(set, directory / "a", {.from = server.url()}); },
               {"first", server.url() + "/first", "404"});
  expect_error([&] { fetch(set, directory / "b", {}); }, {"http://127.0.0.1:1/first"});
  expect_error([&] { fetch(set, directory / "c", {.from = (directory / "none").string()}); },
               {"none/first", "No such file"});
  expect_error([&] { fetch(set, directory / "c", {.from = "gopher://127.0.0.1"}); }, {"gopher"});
}

TEST(HostileFetch, where_nothing_arrives_nothing_is_left) {
  const TempDirectory directory;
  expect_error([&] { fetch(set, directory / "out", {.from = "http://127.0.0.1:1/"}); },
               {"out/first", "127.0.0.1"});
  EXPECT_FALSE(fs::exists(directory / "out"));
}

TEST(HostileFetch, a_server_that_never_stops_is_stopped) {
  const TempDirectory directory;
  HttpServer server;
  server.files["/first"] = std::string(1 << 20, 'x');
  expect_error([&] { fetch(set, directory.path(), {.from = server.url()}); },
               {"first", "sends more than"});
  EXPECT_LE(fs::file_size(directory / "first.partial"), 11U + 64 * 1024);
}

TEST(HostileFetch, a_damaged_file_under_the_name_is_replaced) {
  const TempDirectory directory;
  HttpServer server;
  serve_both(server);
  write(directory / "first", "first fi");
  EXPECT_EQ(fetch(set, directory.path(), {.from = server.url()}), 2U);
  EXPECT_EQ(read_text(directory / "first"), first_content);
}

TEST(InteropFetch, the_published_files_are_known_by_their_hashes) {
  const auto mnist = data_file("mnist");
  if (!mnist) GTEST_SKIP() << "no MNIST files on this machine";
  const TempDirectory directory;
  EXPECT_EQ(fetch(published_set("mnist"), directory / "out", {.from = mnist->string()}), 4U);
  expect_error(
      [&] { fetch(published_set("fashion-mnist"), directory / "f", {.from = mnist->string()}); },
      {"expected md5 8d4fb7e6c68d591d4c3dfef9ec88bf0d", "found f68b3c2dcbeaaa9fbdd348bbdeb94873"});
}

TEST(InteropFetch, debians_copy_of_fashion_mnist_is_known_by_its_content) {
  const fs::path debian = "/usr/share/datasets/fashion-mnist";
  if (!fs::exists(debian)) GTEST_SKIP() << "the package dataset-fashion-mnist is not installed";
  const TempDirectory directory;
  EXPECT_EQ(fetch(published_set("fashion-mnist"), directory / "out", {.from = debian.string()}),
            4U);
  const auto stream = source("mnist").open(std::vector{directory / "out"}, "train");
  EXPECT_EQ(stream->info().size, 60000U);
}

}  // namespace
}  // namespace feedrate::converters
