#pragma once
// AWS Signature Version 4 of requests without a body: docs.aws.amazon.com, "Signature Version 4 signing
// process". libcurl before 8.x leaves out x-amz-content-sha256 and signs queries unsorted.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace feedrate::formats {

/// Who asks. Empty keys: nobody in particular, so that requests are not signed.
struct AwsCredentials {
  std::string key_id;
  std::string secret;
  std::string session_token;  // of temporary credentials
  std::chrono::system_clock::time_point expires = std::chrono::system_clock::time_point::max();

  bool anonymous() const { return key_id.empty(); }
};

struct AwsRequest {
  std::string method = "GET";
  std::string host;  // with the port where the request names one
  std::string path;  // percent-encoded
  std::vector<std::pair<std::string, std::string>> query = {};  // names and values, not encoded
  std::vector<std::pair<std::string, std::string>> headers =
      {};  // further ones; names in lower case
};

/// The headers to send beside those of the request, as "Name: value": date, hash of the (empty) body,
/// session token and authorization.
std::vector<std::string> aws_signature(const AwsRequest& request, const AwsCredentials& credentials,
                                       std::string_view region, std::string_view service,
                                       std::chrono::system_clock::time_point now);

/// The query as it is signed and sent: sorted and encoded, without "?".
std::string aws_query(std::vector<std::pair<std::string, std::string>> query);

}  // namespace feedrate::formats
