// Datasets in buckets: signed requests, lists in pages, refusals.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "formats/remote/aws_credentials.h"
#include "formats/remote_dataset.h"
#include "tests/formats/remote/remote_fixture.h"

namespace feedrate::formats {
namespace {

// The server checks that a signature is there; whether it is right, AWS's examples and a real server say.
class UnitRemoteS3 : public UnitRemote {
 protected:
  void SetUp() override {
    ::setenv("AWS_ENDPOINT_URL", server_.url().c_str(), 1);
    ::setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
    server_.set_faults([this](const ServedRequest& request) -> Fault {
      const auto found = request.headers.find("authorization");
      const bool is_signed = found != request.headers.end() &&
                             found->second.find("Credential=AKIDEXAMPLE/") != std::string::npos &&
                             request.headers.contains("x-amz-content-sha256");
      if (!is_signed) return {.status = 403, .body = "<Error><Code>AccessDenied</Code></Error>"};
      if (request.path.find("list-type=2") == std::string::npos) return {.etag = "\"v1\""};
      const std::string prefix = "set/";
      std::string page = "<ListBucketResult>";
      const bool second = request.path.find("continuation-token=more") != std::string::npos;
      std::vector<fs::path> files;
      for (const auto& entry : fs::directory_iterator(root_ / "set")) files.push_back(entry.path());
      std::ranges::sort(files);
      if (request.path.find("prefix=set/") != std::string::npos &&
          request.path.find("prefix=set/d") == std::string::npos) {
        for (std::size_t i = second ? 1 : 0; i < (second ? files.size() : 1); ++i) {
          page += "<Contents><Key>set/" + files[i].filename().string() + "</Key><Size>" +
                  std::to_string(fs::file_size(files[i])) + "</Size><ETag>" + etag_in_list_ +
                  "</ETag></Contents>";
        }
        if (!second) {
          page += join("<IsTruncated>true</IsTruncated>", token_);
        }
      }
      if (request.path.find("prefix=tree/") != std::string::npos) {
        for (const char* name : {"cat", "dog"}) {
          page += join("<CommonPrefixes><Prefix>tree/", name, "/</Prefix></CommonPrefixes>");
        }
      }
      return {.status = 200, .body = page + "</ListBucketResult>"};
    });
  }
  void TearDown() override {
    for (const char* name : {"AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) {
      ::unsetenv(name);
    }
  }
  // The server keeps buckets as directories beside the root's "set".
  std::string bucket() const { return "s3://."; }

  std::string token_ = "<NextContinuationToken>more</NextContinuationToken>";
  std::string etag_in_list_ = "&quot;v1&quot;";
};

TEST_F(UnitRemoteS3, a_prefix_and_a_file_are_read_with_signed_requests) {
  write("recordio");
  EXPECT_EQ(digests_of(*open_dataset(bucket() + "/set/"), 2), local());
  EXPECT_EQ(digests_of(*open_dataset(bucket() + "/set"), 2), local());
  EXPECT_EQ(digests_of(*open_dataset(bucket() + "/set/data.rec"), 2), local());
}

TEST_F(UnitRemoteS3, a_list_may_leave_out_the_quotes_of_an_etag) {
  write("recordio");
  etag_in_list_ = "v1";
  EXPECT_EQ(digests_of(*open_dataset(bucket() + "/set/"), 2), local());
}

TEST_F(UnitRemoteS3, a_list_that_cannot_be_read_to_its_end_is_refused) {
  write("recordio");
  token_.clear();
  expect_error([&] { (void)open_dataset(bucket() + "/set/"); },
               {"s3://./set/", "cannot be read: it is cut (IsTruncated)"});
}

TEST_F(UnitRemoteS3, credentials_are_those_that_are_named_and_no_others) {
  ::unsetenv("AWS_ACCESS_KEY_ID");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  const std::string config = (root_ / "config").string();
  std::ofstream(config) << "[profile other]\nrole_arn = arn:aws:iam::1:role/x\n";
  ::setenv("AWS_CONFIG_FILE", config.c_str(), 1);
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", (root_ / "none").c_str(), 1);
  ::setenv("AWS_PROFILE", "absent", 1);
  expect_error([] { (void)find_aws_credentials(); }, {"AWS_PROFILE names the profile absent"});
  ::setenv("AWS_PROFILE", "other", 1);
  expect_error([] { (void)find_aws_credentials(); }, {"other has a role_arn, which is not read"});
  ::setenv("AWS_WEB_IDENTITY_TOKEN_FILE", config.c_str(), 1);
  expect_error([] { (void)find_aws_credentials(); },
               {"AWS_WEB_IDENTITY_TOKEN_FILE is set, which is not read"});
  for (const char* name : {"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE",
                           "AWS_WEB_IDENTITY_TOKEN_FILE"}) {
    ::unsetenv(name);
  }
}

TEST_F(UnitRemoteS3, variables_end_no_header_and_name_no_other_host) {
  ::setenv("AWS_SESSION_TOKEN", "hush\r\nX-Other: hush", 1);
  try {
    (void)open_dataset(bucket() + "/set/");
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("the session token of AWS's credentials holds a line break"),
              std::string::npos)
        << said;
    EXPECT_EQ(said.find("hush"), std::string::npos) << said;
  }
  EXPECT_TRUE(server_.requests().empty());
  ::unsetenv("AWS_SESSION_TOKEN");
  ::setenv("AWS_REGION", "other.example/", 1);
  expect_error([&] { (void)open_dataset(bucket() + "/set/"); },
               {"AWS_REGION", "'other.example/': expected a name"});
  ::unsetenv("AWS_REGION");
}

TEST_F(UnitRemoteS3, keys_in_a_url_are_refused_and_not_shown) {
  try {
    open_dataset("s3://key:hidden@bucket/set/");
    FAIL();
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("no user and password"), std::string::npos) << said;
    EXPECT_EQ(said.find("hidden"), std::string::npos) << said;
  }
}

TEST_F(UnitRemoteS3, an_instance_answers_soon_or_is_not_asked_again) {
  ::unsetenv("AWS_ACCESS_KEY_ID");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  ::setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server_.url().c_str(), 1);
  const std::string home = root_.path();
  ::setenv("AWS_CONFIG_FILE", (home + "/none").c_str(), 1);
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", (home + "/none").c_str(), 1);
  server_.set_faults([](const ServedRequest& request) {
    return request.method == "PUT" ? Fault{.status = 200, .body = "token"} : Fault{.status = 404};
  });
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);  // which has other instances near it
  EXPECT_TRUE(find_aws_credentials().anonymous());  // it has no role
  server_.set_faults([](const ServedRequest&) { return Fault{.status = 503}; });
  expect_error([] { (void)find_aws_credentials(); }, {"the instance's metadata", "asked 3 times"});
  for (const char* name : {"http_proxy", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
                           "AWS_EC2_METADATA_SERVICE_ENDPOINT"}) {
    ::unsetenv(name);
  }
}

TEST_F(UnitRemoteS3, a_folder_of_classes_is_refused_with_the_reason) {
  write("recordio");
  for (const char* name : {"/tree/", "/tree"}) {
    expect_error([&] { (void)open_dataset(bucket() + name); },
                 {"/tree/", "holds no dataset, but directories (cat, dog): "});
  }
}

TEST_F(UnitRemoteS3, refusals_tell_no_secret) {
  write("recordio");
  ::setenv("AWS_ACCESS_KEY_ID", "OTHER", 1);
  try {
    (void)open_dataset(bucket() + "/set/");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("AccessDenied"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find("hush"), std::string::npos) << error.what();
  }
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  expect_error([&] { (void)open_dataset(bucket() + "/set/"); }, {"AWS_SECRET_ACCESS_KEY is not"});
}

}  // namespace
}  // namespace feedrate::formats
