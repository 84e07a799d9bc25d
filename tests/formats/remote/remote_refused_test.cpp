// What a server sends that is refused: in the words of the error, and without secrets.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "formats/io/file.h"
#include "formats/sidecar.h"
#include "tests/formats/remote/remote_fixture.h"

namespace feedrate::formats {
namespace {

using namespace std::chrono_literals;

TEST_F(UnitRemote, a_server_without_ranges_is_refused) {
  write("recordio");
  server_.set_faults([](const ServedRequest& request) {
    return request.path.ends_with(".rec") ? Fault{.ignores_ranges = true} : Fault{};
  });
  expect_error([&] { (void)open_dataset(url()); },
               {"data.rec", "the server ignores ranges", "status 200"});
}

TEST_F(UnitRemote, another_range_than_asked_for_is_refused) {
  write("recordio");
  const auto dataset = open_dataset(url());
  server_.set_faults([](const ServedRequest&) { return Fault{.shift = 4}; });
  expect_error([&] { digests_of(*dataset); },
               {"data.rec", "asked for bytes ", "the server sends bytes "});
}

// One that was cut would be taken for the beginning of the range.
TEST_F(UnitRemote, an_answer_that_is_encoded_is_refused) {
  write("recordio");
  const auto dataset = open_dataset(url());
  for (const std::size_t length : {std::size_t{9}, ~std::size_t{}}) {
    server_.set_faults([=](const ServedRequest&) {
      return Fault{.headers = "Content-Encoding: gzip\r\n", .cut_after = length};
    });
    expect_error([&] { digests_of(*dataset); }, {"data.rec", "Content-Encoding: gzip"});
  }
  expect_error([&] { open_dataset(url()); }, {"Content-Encoding: gzip"});
}

TEST_F(UnitRemote, a_server_that_stays_broken_is_an_error_with_its_status) {
  write("recordio");
  const auto dataset = open_dataset(url());
  server_.set_faults([](const ServedRequest&) {
    return Fault{.status = 403,
                 .body = "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>"};
  });
  expect_error([&] { digests_of(*dataset); },
               {url("set/data.rec"), "forbids", "status 403", "AccessDenied: No."});
}

TEST_F(UnitRemote, a_failure_does_not_stay) {
  write("recordio");
  const auto dataset = open_dataset(url());
  server_.set_faults([](const ServedRequest&) { return Fault{.status = 404}; });
  Scratch scratch;
  expect_error([&] { (void)dataset->read(3, scratch); }, {"there is no such object (status 404)"});
  server_.set_faults({});
  EXPECT_EQ(digests_of(*dataset), local());
}

TEST_F(UnitRemote, what_is_not_there_is_named_without_secrets) {
  write("recordio");
  try {
    (void)open_dataset(server_.url().insert(7, "me:secret@") + "/set/absent.rec?signature=abc");
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(url("set/absent.rec") + ": there is no such object"), std::string::npos)
        << text;
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    EXPECT_EQ(text.find("abc"), std::string::npos) << text;
  }
  fs::create_directory(root_ / "empty");
  expect_error([&] { (void)open_dataset(url("empty/")); },
               {url("empty/"), "there are no objects here"});
  expect_error([&] { (void)open_dataset("ftp://host/x.rec"); }, {"ftp://host/x.rec", "found ftp"});
}

TEST_F(UnitRemote, a_named_file_that_is_forbidden_is_told_as_refused) {
  write("recordio");
  server_.set_faults([](const ServedRequest& request) {
    return request.path == "/set/data.rec" ? Fault{.status = 403} : Fault{};
  });
  expect_error([&] { (void)open_dataset(url("set/data.rec")); },
               {url("set/data.rec"), "the server forbids it (status 403)"});
}

}  // namespace
}  // namespace feedrate::formats
