#pragma once
// A prefix in a bucket of S3, or of a server that speaks its language.

#include <mutex>
#include <string>
#include <vector>

#include "formats/remote/aws_credentials.h"
#include "formats/remote/origin.h"
#include "formats/remote/url.h"

namespace feedrate::formats {

class S3Origin final : public Origin {
 public:
  /// Credentials and region are those that AWS's tools would find, and the endpoint, where none is given.
  /// `prefix` is empty or ends with a slash.
  S3Origin(std::string bucket, std::string prefix, const std::optional<std::string>& endpoint);

  std::string shown() const override;
  HttpRequest request(const std::string& name) const override;
  Listing list() const override;
  std::optional<RemoteFile> find(const std::string& name) const override;
  std::string absence(const std::string&) const override { return "there is no such object"; }
  bool lists_cheaply() const override { return true; }

 private:
  using Query = std::vector<std::pair<std::string, std::string>>;

  HttpRequest signed_request(const std::string& method, const std::string& key,
                             const Query& query) const;
  AwsCredentials credentials() const;

  std::string bucket_;
  std::string prefix_;
  std::string region_;
  Url endpoint_;
  bool bucket_in_path_ = true;
  mutable std::mutex mutex_;
  mutable std::optional<AwsCredentials> credentials_;  // under mutex_
};

}  // namespace feedrate::formats
