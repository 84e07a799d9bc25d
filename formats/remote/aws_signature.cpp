#include "formats/remote/aws_signature.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/remote/url.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t sha256_bytes = 32;
using Key = std::array<unsigned char, sha256_bytes>;

std::string hex_of(const Key& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

std::string sha256_of(std::string_view text) {
  Key digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Error("OpenSSL cannot compute SHA-256");
  }
  return hex_of(digest);
}

Key hmac(std::string_view key, std::string_view text) {
  Key result{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), result.data(),
           &size) == nullptr) {
    throw Error("OpenSSL cannot compute HMAC");
  }
  return result;
}

std::string_view as_key(const Key& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace

std::string aws_query(std::vector<std::pair<std::string, std::string>> query) {
  for (auto& [name, value] : query) {
    name = percent_encoded(name);
    value = percent_encoded(value);
  }
  std::ranges::sort(query);
  std::string text;
  for (const auto& [name, value] : query) {
    text += join(text.empty() ? "" : "&", name, "=", value);
  }
  return text;
}

std::vector<std::string> aws_signature(const AwsRequest& request, const AwsCredentials& credentials,
                                       std::string_view region, std::string_view service,
                                       std::chrono::system_clock::time_point now) {
  const std::string body_hash = sha256_of("");
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const std::string date = fmt::format("{:%Y%m%d}", seconds);
  const std::string time = fmt::format("{:%Y%m%dT%H%M%SZ}", seconds);

  std::vector<std::pair<std::string, std::string>> own = {{"x-amz-date", time}};
  if (service == "s3") own.emplace_back("x-amz-content-sha256", body_hash);
  if (!credentials.session_token.empty()) {
    own.emplace_back("x-amz-security-token", credentials.session_token);
  }
  auto headers = request.headers;
  headers.insert(headers.end(), own.begin(), own.end());
  headers.emplace_back("host", request.host);
  std::ranges::sort(headers);
  std::string canonical_headers, names;
  for (const auto& [name, value] : headers) {
    canonical_headers += join(name, ":", trimmed(value), "\n");
    names += join(names.empty() ? "" : ";", name);
  }
  const std::string canonical =
      join(request.method, "\n", request.path.empty() ? "/" : request.path, "\n",
           aws_query(request.query), "\n", canonical_headers, "\n", names, "\n", body_hash);
  const std::string scope = join(date, "/", region, "/", service, "/aws4_request");
  const std::string to_sign =
      join("AWS4-HMAC-SHA256\n", time, "\n", scope, "\n", sha256_of(canonical));

  Key key = hmac(join("AWS4", credentials.secret), date);
  for (const std::string_view part : {region, service, std::string_view("aws4_request")}) {
    key = hmac(as_key(key), part);
  }
  std::vector<std::string> lines;
  for (const auto& [name, value] : own) lines.push_back(join(name, ": ", value));
  lines.push_back(join("Authorization: AWS4-HMAC-SHA256 Credential=", credentials.key_id, "/",
                       scope, ", SignedHeaders=", names,
                       ", Signature=", hex_of(hmac(as_key(key), to_sign))));
  return lines;
}

}  // namespace feedrate::formats
