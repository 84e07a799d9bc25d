// Answers, redirections, proxies and silences: what is served, and what an error says of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>

#include "formats/io/file.h"
#include "formats/remote/exchange.h"
#include "formats/remote/retries.h"
#include "formats/remote_dataset.h"
#include "tests/formats/remote/remote_fixture.h"

namespace feedrate::formats {
namespace {

class UnitRemoteOutcome : public UnitRemote {
 protected:
  UnitRemoteOutcome() { forget_proxies(); }
  ~UnitRemoteOutcome() override { forget_proxies(); }

  static void forget_proxies() {
    for (const char* name : {"http_proxy", "https_proxy", "no_proxy"}) ::unsetenv(name);
  }
  // Answers ranges of the data as `made` makes them of the bytes that are asked for.
  using Made =
      std::function<Fault(std::uint64_t first, std::uint64_t last, const std::string& all)>;
  void answer_ranges(const Made& made) {
    const std::string all = read_text(root_ / "set" / "data.rec");
    server_.set_faults([=](const ServedRequest& request) {
      const auto range = request.headers.find("range");
      if (range == request.headers.end() || !request.path.ends_with("data.rec"))
        return Fault{.etag = "\"v\""};
      const std::size_t dash = range->second.find('-');
      return made(std::stoull(range->second.substr(6)), std::stoull(range->second.substr(dash + 1)),
                  all);
    });
  }
  static std::string range_header(std::uint64_t first, std::uint64_t last, std::size_t size) {
    return join("ETag: \"v\"\r\nContent-Range: bytes ", first, "-", last, "/", size, "\r\n");
  }

  static std::string error_of(const std::string& url) {
    try {
      (void)open_dataset(url);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(UnitRemoteOutcome, a_range_whose_answer_leaves_out_the_size_is_served) {
  write("recordio");
  const auto dataset = open_dataset(url());
  server_.set_faults([](const ServedRequest&) { return Fault{.hides_size = true}; });
  EXPECT_EQ(digests_of(*dataset, 2), local());
  server_.set_faults([](const ServedRequest&) { return Fault{.hides_size = true, .shift = 4}; });
  expect_error([&] { digests_of(*dataset); }, {"data.rec", "the server sends bytes ", "/*"});
}

TEST_F(UnitRemoteOutcome, a_server_may_send_a_part_of_the_range) {
  write("recordio");
  const auto expected = local();
  answer_ranges([](std::uint64_t first, std::uint64_t last, const std::string& all) {
    const std::uint64_t end = std::min(last, first + 1999);
    return Fault{.status = 206,
                 .headers = range_header(first, end, all.size()),
                 .body = all.substr(first, end - first + 1)};
  });
  EXPECT_EQ(digests_of(*open_dataset(url()), 2), expected);
}

TEST_F(UnitRemoteOutcome, another_range_is_told_before_its_bytes_are_taken) {
  write("recordio");
  answer_ranges([](std::uint64_t first, std::uint64_t last, const std::string& all) {
    return Fault{.status = 206, .headers = range_header(first, last, all.size() + 1), .body = all};
  });
  expect_error([&] { digests_of(*open_dataset(url())); },
               {"asked for bytes ", ", the server sends bytes "});
  answer_ranges([](std::uint64_t, std::uint64_t, const std::string& all) {
    return Fault{.status = 206,
                 .headers = "ETag: \"v\"\r\nContent-Type: multipart/byteranges; boundary=b\r\n",
                 .body = all};
  });
  expect_error([&] { digests_of(*open_dataset(url())); },
               {"several parts (multipart/byteranges; boundary=b)"});
  answer_ranges([](std::uint64_t first, std::uint64_t last, const std::string& all) {
    const std::uint64_t end = first + (last - first) / 2;
    return Fault{
        .status = 206, .headers = range_header(first, end, all.size()), .body = all.substr(first)};
  });
  expect_error([&] { digests_of(*open_dataset(url())); },
               {"sends more than the ", " bytes that it says it does"});
}

// A reader may take a record that it cannot have for one that holds an image, or a class for none.
TEST_F(UnitRemoteOutcome, what_a_server_refuses_while_a_dataset_is_opened_is_told) {
  write("recordio");
  answer_ranges([](std::uint64_t first, std::uint64_t last, const std::string& all) {
    if (first == 0) return Fault{.status = 403};
    return Fault{.status = 206,
                 .headers = range_header(first, last, all.size()),
                 .body = all.substr(first, last - first + 1)};
  });
  EXPECT_EQ(error_of(url()), url() + "data.rec: the server forbids it (status 403)");
}

// As long as it went on in such steps, a megabyte would take a day.
TEST_F(UnitRemoteOutcome, a_byte_a_connection_is_no_progress) {
  write("recordio");
  std::atomic<bool> breaks{false};
  answer_ranges([&](std::uint64_t first, std::uint64_t last, const std::string& all) {
    return Fault{.status = 206,
                 .headers = range_header(first, last, all.size()),
                 .body = all.substr(first, last - first + 1),
                 .cut_after = breaks.load() ? 1 : ~std::size_t{}};
  });
  const auto dataset = open_dataset(url());
  breaks.store(true);
  expect_error([&] { digests_of(*dataset); }, {"data.rec", "; asked 8 times"});
}

TEST_F(UnitRemoteOutcome, of_a_refusal_a_long_page_is_not_read) {
  write("recordio");
  server_.set_faults([](const ServedRequest&) {
    return Fault{
        .status = 404, .body = std::string(std::size_t{100} << 10, 'x'), .cut_after = 99 << 10};
  });
  EXPECT_EQ(error_of(url()), url() + ": there is no such object (status 404)");
}

TEST_F(UnitRemoteOutcome, a_refusal_tells_a_clock_that_is_wrong) {
  HttpAnswer answer{.status = 403};
  answer.date = "Thu, 01 Jan 2015 00:00:00 GMT";
  EXPECT_NE(refusal(answer).find("; this machine's clock is "), std::string::npos)
      << refusal(answer);
  EXPECT_NE(refusal(answer).find(" minutes ahead of the server's)"), std::string::npos)
      << refusal(answer);
  answer.date.clear();
  EXPECT_EQ(refusal(answer), "the server forbids it (status 403)");
}

TEST_F(UnitRemoteOutcome, a_user_does_not_follow_to_another_host) {
  write("recordio");
  RangeServer front(root_.path());
  front.set_faults([this](const ServedRequest& request) {
    return Fault{.status = 307, .headers = "Location: " + server_.url() + request.path + "\r\n"};
  });
  const std::string given = front.url().insert(7, "me:hush@") + "/set/";
  EXPECT_EQ(digests_of(*open_dataset(given)), local());
  ASSERT_FALSE(server_.requests().empty());
  for (const ServedRequest& request : front.requests()) {
    EXPECT_TRUE(request.headers.contains("authorization")) << request.path;
  }
  for (const ServedRequest& request : server_.requests()) {
    EXPECT_FALSE(request.headers.contains("authorization")) << request.path;
  }
}

TEST_F(UnitRemoteOutcome, a_redirection_leads_to_servers_alone) {
  write("recordio");
  for (const char* to : {"file:///etc/passwd", "ftp://host/", "gopher://host/"}) {
    server_.set_faults([=](const ServedRequest&) {
      return Fault{.status = 302, .headers = formats::join("Location: ", to, "\r\n")};
    });
    const std::string said = error_of(url());
    EXPECT_EQ(said.find(url()), 0U) << said;
    EXPECT_EQ(said.find("asked"), std::string::npos) << said;  // once is enough
  }
}

TEST_F(UnitRemoteOutcome, proxies_are_asked_unless_a_variable_excepts_the_host) {
  write("recordio");
  ::setenv("http_proxy", server_.url().c_str(), 1);
  server_.set_faults([](const ServedRequest& request) {
    return request.path.starts_with("http://") ? Fault{.status = 407} : Fault{};
  });
  EXPECT_EQ(error_of("http://elsewhere.invalid/set/"),
            "http://elsewhere.invalid/set/: the proxy asks who you are (status 407)");
  ::setenv("no_proxy", "127.0.0.1", 1);
  EXPECT_EQ(digests_of(*open_dataset(url())), local());
}

TEST_F(UnitRemoteOutcome, a_proxy_that_does_not_connect_is_told_once) {
  ::setenv("https_proxy", server_.url().c_str(), 1);
  server_.set_faults([](const ServedRequest& request) {
    return request.method == "CONNECT" ? Fault{.status = 403} : Fault{};
  });
  EXPECT_EQ(
      error_of("https://elsewhere.invalid/set/"),
      "https://elsewhere.invalid/set/: the proxy does not connect to the server (status 403)");
}

TEST_F(UnitRemoteOutcome, a_proxy_that_cannot_be_used_is_told_once_and_not_quoted) {
  for (const char* proxy : {"http://me:hush now@[::", "http://me:hush'@[::", "http://me:hush",
                            "ftp://hush@host:1", "htp://me:hush@host:1"}) {
    ::setenv("http_proxy", proxy, 1);
    const std::string said = error_of("http://elsewhere.invalid/set/");
    EXPECT_EQ(
        said.find("http://elsewhere.invalid/set/: http_proxy names a proxy that cannot be used"),
        0U)
        << said;
    EXPECT_EQ(said.find("hush"), std::string::npos) << said;
    EXPECT_EQ(said.find("asked"), std::string::npos) << said;
  }
}

TEST_F(UnitRemoteOutcome, a_proxy_that_is_not_there_is_told_as_one) {
  ::setenv("http_proxy", "http://me:hush@127.0.0.1:1", 1);
  const std::string said = error_of("http://elsewhere.invalid/set/");
  EXPECT_NE(said.find(" (http_proxy names a proxy); asked 8 times"), std::string::npos) << said;
  EXPECT_EQ(said.find("hush"), std::string::npos) << said;
}

TEST_F(UnitRemoteOutcome, a_password_may_hold_what_urls_may_not) {
  write("recordio");
  EXPECT_EQ(digests_of(*open_dataset(std::string(url()).insert(7, "me:a@b c\"ü@"))), local());
  for (const ServedRequest& request : server_.requests()) {
    EXPECT_EQ(request.headers.at("authorization"), "Basic bWU6YUBiIGMiw7w=");  // me:a@b c"ü
  }
}

TEST(UnitRetries, silences_are_fewer_than_other_attempts) {
  Retries failures, silences;
  unsigned attempts = 1;
  while (failures.next(1)) ++attempts;
  EXPECT_EQ(attempts, Retries::max_attempts);
  attempts = 1;
  silences.add_silence();
  for (; silences.next(1); ++attempts) silences.add_silence();
  EXPECT_EQ(attempts, Retries::max_silences);
}

}  // namespace
}  // namespace feedrate::formats
