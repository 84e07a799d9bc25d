#include "formats/remote/url.h"

#include <gtest/gtest.h>

#include "formats/base/error.h"
#include "formats/remote/http_origin.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

TEST(UnitUrl, a_path_has_no_scheme) {
  EXPECT_EQ(url_scheme("data/train"), "");
  EXPECT_EQ(url_scheme("/data/a://b"), "");
  EXPECT_EQ(url_scheme("://host/x"), "");
  EXPECT_EQ(url_scheme("HTTPS://host/x"), "https");
  EXPECT_EQ(url_scheme("s3://bucket"), "s3");
}

TEST(UnitUrl, its_parts_make_it_again) {
  const std::string text = "https://me:secret@host:8443/a/b%20c.rec?sig=x&y=z";
  const Url url = parse_url(text);
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.user, "me:secret");
  EXPECT_EQ(url.host, "host:8443");
  EXPECT_EQ(url.path, "/a/b%20c.rec");
  EXPECT_EQ(url.query, "sig=x&y=z");
  EXPECT_EQ(url.text(), text);
  EXPECT_EQ(parse_url("http://host#part").host, "host");
}

TEST(UnitUrl, one_without_a_host_is_refused) {
  testing::expect_error([] { (void)parse_url("https:///a"); }, {"expected a URL such as"});
}

TEST(UnitUrl, secrets_are_left_out) {
  EXPECT_EQ(without_secrets("https://me:secret@host/a?X-Amz-Signature=abc"), "https://host/a");
  EXPECT_EQ(without_secrets("https://a@b@host/a@c#part"), "https://host/a@c");
  EXPECT_EQ(without_secrets("data/a?image=x"), "data/a?image=x");
}

TEST(UnitUrl, what_is_no_host_is_refused_and_its_password_not_shown) {
  struct Case {
    std::string url, shown;
  };
  for (const Case& each :
       {Case{"https://me:hu/sh@host/a", "https://host/a: "},
        Case{"https://me:hush?x@host/a", "https://host/a: "},
        Case{"https://me:hush#x@host/a?hush", "https://host/a: "},
        Case{"https://me:hu/sh", "https://me…/sh: "},
        Case{"https://host:99999/a", "https://host…/a: "},
        Case{"https://host:0/a", "https://host…/a: "}, Case{"https://::1:80/a", "https://…/a: "},
        Case{"https://[::1/a", "https://[…/a: "}, Case{"https://ho st/a", "https://ho st/a: "},
        Case{"s3://KEY:hu/sh@bucket/a", "s3://bucket/a: "},
        Case{"s3://bucket?hush/a", "s3://bucket…/a: "}}) {
    try {
      (void)parse_url(each.url);
      FAIL() << each.url;
    } catch (const Error& error) {
      const std::string said = error.what();
      EXPECT_EQ(said.find(each.shown + "expected "), 0U) << said;
      EXPECT_EQ(said.find("hush"), std::string::npos) << said;
    }
  }
  for (const char* host :
       {"host", "host:80", "host:", "127.0.0.1:1", "[::1]", "[fe80::1%25lo]:8", "müller.example"}) {
    EXPECT_EQ(parse_url(join("http://a:b@", host, "/x@y:z/")).host, host);
  }
}

TEST(UnitUrl, a_key_of_s3_holds_any_character) {
  const Url url = parse_url("s3://bucket/a?b#c/d");
  EXPECT_EQ(url.path, "/a?b#c/d");
  EXPECT_EQ(url.query, "");
  EXPECT_EQ(without_secrets("s3://bucket/a?b#c/d"), "s3://bucket/a?b#c/d");
}

TEST(UnitUrl, bytes_are_encoded_and_decoded) {
  EXPECT_EQ(percent_encoded("a b/ü~"), "a%20b%2F%C3%BC~");
  EXPECT_EQ(percent_encoded("a b/c", true), "a%20b/c");
  EXPECT_EQ(percent_decoded("a%20b%2fc%"), "a b/c%");
  EXPECT_EQ(escaped("a b%20ü@", "@"), "a%20b%20%C3%BC%40");
}

TEST(UnitUrl, the_links_of_a_page_are_names_of_its_own_directory) {
  const std::string page =
      "<a href=\"../\">up</a><a href='b%20c.tar'>b c</a><a href=\"a.tar?v=1\">a</a>"
      "<a href=\"sub/\">sub</a><a href=\"/etc/passwd\">x</a><a href=\"http://h/y.tar\">y</a>"
      "<a href=\"a%2Fb\">z</a><a href=\"..%2Fx\">w</a><a href=\"t&amp;t.tar\">t</a><a "
      "href=\"?C=N\">s</a>"
      "<a href=\"./d.tar\">d</a><a href=";
  EXPECT_EQ(names_linked(page),
            (std::vector<std::string>{"a.tar", "b c.tar", "d.tar", "sub/", "t&t.tar"}));
}

TEST(UnitUrl, links_may_hold_entities_or_the_whole_path) {
  const std::string page =
      "<a href=\"a&#43;1.tar\">a</a><a href='&#x62;&apos;&#228;.tar'>b</a><a "
      "href=\"/d/c.tar\">c</a>"
      "<a href=\"/d/sub/\">s</a><a href=\"/d/\">d</a><a href=\"/e/x.tar\">x</a>"
      "<a href=\"&amp;#43;&lost.tar\">y</a>";
  EXPECT_EQ(names_linked(page, "/d/"),
            (std::vector<std::string>{"&", "a+1.tar", "b'ä.tar", "c.tar", "sub/"}));
}

}  // namespace
}  // namespace feedrate::formats
