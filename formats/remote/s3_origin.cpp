#include "formats/remote/s3_origin.h"

#include <pugixml.hpp>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/base/xml.h"
#include "formats/remote/http_get.h"

namespace feedrate::formats {
namespace {

constexpr std::uint64_t max_list_bytes = std::uint64_t{16} << 20;  // of at most 1,000 keys
constexpr std::chrono::minutes renewed_before_end{5};

// With its quotes, which some servers (rclone) leave out of their lists.
std::string quoted(std::string_view etag) {
  const bool bare = !etag.empty() && !etag.ends_with('"');
  return bare ? join("\"", etag, "\"") : std::string(etag);
}

}  // namespace

S3Origin::S3Origin(std::string bucket, std::string prefix, const std::optional<std::string>& given)
    : bucket_(std::move(bucket)), prefix_(std::move(prefix)), region_(aws_region()) {
  const std::string endpoint = given ? *given : s3_endpoint();
  // A dot in a bucket's name does not fit the certificate of *.s3.amazonaws.com.
  bucket_in_path_ = !endpoint.empty() || bucket_.find('.') != std::string::npos;
  endpoint_ =
      parse_url(endpoint.empty() ? join("https://s3.", region_, ".amazonaws.com") : endpoint);
  check_endpoint(endpoint_.text());
  while (endpoint_.path.ends_with('/')) endpoint_.path.pop_back();
  if (!bucket_in_path_) endpoint_.host = join(bucket_, ".", endpoint_.host);
}

std::string S3Origin::shown() const { return join("s3://", bucket_, "/", prefix_); }

// Those of a role end after some hours, and are asked for again a little earlier.
AwsCredentials S3Origin::credentials() const {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::system_clock::now();
  const auto end = [&] { return credentials_->expires; };
  constexpr auto never = std::chrono::system_clock::time_point::max();
  if (!credentials_ || (end() != never && now > end() - renewed_before_end)) {
    credentials_ = find_aws_credentials();
  }
  return *credentials_;
}

HttpRequest S3Origin::signed_request(const std::string& method, const std::string& key,
                                     const Query& query) const {
  std::string path = endpoint_.path;
  if (bucket_in_path_) path += "/" + bucket_;
  path += "/" + percent_encoded(key, true);
  const std::string text = aws_query(query);
  HttpRequest request{
      join(endpoint_.scheme, "://", endpoint_.host, path, text.empty() ? "" : "?", text)};
  request.method = method;
  request.follows = false;  // what is signed is signed for one host
  if (const AwsCredentials who = credentials(); !who.anonymous()) {
    request.headers = aws_signature({method, endpoint_.host, path, query}, who, region_, "s3",
                                    std::chrono::system_clock::now());
  }
  return request;
}

HttpRequest S3Origin::request(const std::string& name) const {
  return signed_request("GET", prefix_ + name, {});
}

Listing S3Origin::list() const {
  Listing listing;
  std::string token;
  do {
    Query query = {{"list-type", "2"}, {"delimiter", "/"}, {"prefix", prefix_}};
    if (!token.empty()) query.emplace_back("continuation-token", token);
    const HttpAnswer answer =
        http_get([&] { return signed_request("GET", "", query); }, shown(), max_list_bytes);
    if (answer.status != 200) fail(shown(), refusal(answer));
    try {
      pugi::xml_document document;
      parse_xml(answer.body, document);
      const pugi::xml_node page = document.child("ListBucketResult");
      if (page.empty()) throw Error("expected a list of objects (ListBucketResult)");
      for (const pugi::xml_node& object : page.children("Contents")) {
        const std::string_view key = xml_text(object.child("Key"));
        const auto size = parse_number<std::uint64_t>(xml_text(object.child("Size")));
        if (!key.starts_with(prefix_) || !size) throw Error("an object lacks its key or its size");
        const std::string name(key.substr(prefix_.size()));
        if (name.empty() || name.find('/') != std::string::npos) continue;
        listing.files.push_back({name, {*size, quoted(xml_text(object.child("ETag"))), {}}});
      }
      for (const pugi::xml_node& below : page.children("CommonPrefixes")) {
        std::string_view name = xml_text(below.child("Prefix"));
        if (!name.starts_with(prefix_) || !name.ends_with('/')) continue;
        name.remove_prefix(prefix_.size());
        listing.directories.emplace_back(name.substr(0, name.size() - 1));
      }
      const bool is_cut = xml_text(page.child("IsTruncated")) == "true";
      const std::string next(is_cut ? xml_text(page.child("NextContinuationToken")) : "");
      if (is_cut && (next.empty() || next == token)) {
        throw Error("it is cut (IsTruncated), and has no new NextContinuationToken to go on from");
      }
      token = next;
    } catch (const Error& error) {
      fail(shown(), "the server's list cannot be read: ", error.what());
    }
  } while (!token.empty());
  return listing;
}

std::optional<RemoteFile> S3Origin::find(const std::string& name) const {
  const HttpAnswer answer =
      http_get([&] { return signed_request("HEAD", prefix_ + name, {}); }, shown() + name, 0);
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) fail(shown() + name, refusal(answer));
  if (!answer.length) fail(shown() + name, "the server does not say how large it is");
  return RemoteFile{name, {*answer.length, answer.etag, answer.last_modified}};
}

}  // namespace feedrate::formats
