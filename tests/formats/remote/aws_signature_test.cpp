// The examples that AWS publishes: "Signature calculations for the Authorization header", of Amazon S3's API
// reference, and the test suite of Signature Version 4.

#include "formats/remote/aws_signature.h"

#include <gtest/gtest.h>

#include <ctime>

namespace feedrate::formats {
namespace {

std::chrono::system_clock::time_point time_of(int year, int month, int day, int hour = 0,
                                              int minute = 0) {
  std::tm parts{};
  parts.tm_year = year - 1900, parts.tm_mon = month - 1, parts.tm_mday = day;
  parts.tm_hour = hour, parts.tm_min = minute;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

const AwsCredentials s3_example{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                ""};
const AwsCredentials suite{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};

std::string signature_of(const std::vector<std::string>& headers) {
  const std::string& line = headers.back();
  const std::string mark = "Signature=";
  return line.substr(line.find(mark) + mark.size());
}

TEST(UnitAwsSignature, an_object_of_s3_with_a_range) {
  const auto headers = aws_signature(
      {"GET", "examplebucket.s3.amazonaws.com", "/test.txt", {}, {{"range", "bytes=0-9"}}},
      s3_example, "us-east-1", "s3", time_of(2013, 5, 24));
  EXPECT_EQ(headers.back(),
            "Authorization: AWS4-HMAC-SHA256 "
            "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(UnitAwsSignature, a_setting_of_a_bucket) {
  EXPECT_EQ(signature_of(aws_signature(
                {"GET", "examplebucket.s3.amazonaws.com", "/", {{"lifecycle", ""}}, {}}, s3_example,
                "us-east-1", "s3", time_of(2013, 5, 24))),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(UnitAwsSignature, a_list_of_objects) {
  EXPECT_EQ(
      signature_of(aws_signature(
          {"GET", "examplebucket.s3.amazonaws.com", "/", {{"prefix", "J"}, {"max-keys", "2"}}, {}},
          s3_example, "us-east-1", "s3", time_of(2013, 5, 24))),
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(UnitAwsSignature, the_plainest_request_of_the_suite) {
  EXPECT_EQ(signature_of(aws_signature({"GET", "example.amazonaws.com", "/", {}, {}}, suite,
                                       "us-east-1", "service", time_of(2015, 8, 30, 12, 36))),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
}

TEST(UnitAwsSignature, a_query_of_the_suite_is_sorted) {
  EXPECT_EQ(
      signature_of(aws_signature(
          {"GET", "example.amazonaws.com", "/", {{"Param2", "value2"}, {"Param1", "value1"}}, {}},
          suite, "us-east-1", "service", time_of(2015, 8, 30, 12, 36))),
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
}

TEST(UnitAwsSignature, a_session_token_is_sent_and_signed) {
  AwsCredentials who = s3_example;
  who.session_token = "token";
  const auto headers =
      aws_signature({"GET", "host", "/", {}, {}}, who, "us-east-1", "s3", time_of(2013, 5, 24));
  EXPECT_EQ(headers[2], "x-amz-security-token: token");
  EXPECT_NE(headers.back().find("x-amz-security-token"), std::string::npos);
}

TEST(UnitAwsSignature, a_query_is_encoded_byte_by_byte) {
  EXPECT_EQ(aws_query({{"prefix", "a/b c"}, {"delimiter", "/"}}), "delimiter=%2F&prefix=a%2Fb%20c");
}

}  // namespace
}  // namespace feedrate::formats
