// Datasets in buckets: signed requests, lists in pages, refusals.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

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
          page +=
              "<IsTruncated>true</IsTruncated><NextContinuationToken>more</NextContinuationToken>";
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
