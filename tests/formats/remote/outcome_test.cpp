// Answers, redirections, proxies and silences: what is served, and what an error says of it.

#include <gtest/gtest.h>

#include <cstdlib>

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

TEST_F(UnitRemoteOutcome, a_proxys_password_is_told_nowhere) {
  ::setenv("http_proxy", "http://me:hush now@[::", 1);  // which libcurl quotes
  const std::string said = error_of("http://elsewhere.invalid/set/");
  EXPECT_EQ(said.find("http://elsewhere.invalid/set/: "), 0U) << said;
  EXPECT_EQ(said.find("hush"), std::string::npos) << said;
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
