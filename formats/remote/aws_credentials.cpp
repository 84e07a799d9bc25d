#include "formats/remote/aws_credentials.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/file.h"
#include "formats/remote/http_get.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using Profile = std::map<std::string, std::string, std::less<>>;

constexpr std::uint64_t max_answer = std::uint64_t{64} << 10;
constexpr std::string_view container_host = "http://169.254.170.2";
constexpr std::string_view instance_host = "http://169.254.169.254";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// What goes into a header must not end it: a variable that was read from a file may hold a line break.
std::string of_one_line(std::string text, std::string_view what) {
  const auto is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  if (std::ranges::none_of(text, is_control)) return text;
  throw Error(join(what, " holds a line break or another control character"));
}

std::string profile_name() {
  const std::string name = variable("AWS_PROFILE");
  return name.empty() ? "default" : name;
}

fs::path shared_file(const char* named_by, const char* name) {
  if (const std::string named = variable(named_by); !named.empty()) return named;
  const std::string home = variable("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".aws" / name;
}

// The lines "key = value" below "[header]"; empty where the file or the header is not there.
Profile read_profile(const fs::path& file, std::string_view header) {
  Profile profile;
  std::error_code ignored;
  if (file.empty() || !fs::exists(file, ignored)) return profile;
  const std::string content = read_text(file);
  std::string_view text = content;
  bool inside = false;
  while (!text.empty()) {
    const std::string_view line = trimmed(take_line(text));
    if (line.starts_with('[')) {
      inside = trimmed(line.substr(1, std::min(line.find(']'), line.size()) - 1)) == header;
      continue;
    }
    const std::size_t equal = line.find('=');
    if (!inside || line.starts_with('#') || equal == std::string_view::npos) continue;
    profile.emplace(trimmed(line.substr(0, equal)), trimmed(line.substr(equal + 1)));
  }
  return profile;
}

Profile config_profile() {
  const std::string name = profile_name();
  return read_profile(shared_file("AWS_CONFIG_FILE", "config"),
                      name == "default" ? name : "profile " + name);
}

std::string value_of(const Profile& profile, std::string_view key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::string() : found->second;
}

std::optional<AwsCredentials> from_environment() {
  AwsCredentials found{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
                       variable("AWS_SESSION_TOKEN")};
  if (found.key_id.empty() && found.secret.empty()) return std::nullopt;
  if (found.key_id.empty()) throw Error("AWS_SECRET_ACCESS_KEY is set, AWS_ACCESS_KEY_ID is not");
  if (found.secret.empty()) throw Error("AWS_ACCESS_KEY_ID is set, AWS_SECRET_ACCESS_KEY is not");
  return found;
}

constexpr std::string_view exported =
    ", which is not read here: 'aws configure export-credentials --format env' prints variables "
    "that "
    "are";

// Elsewhere is what a pod's token does not stand for.
std::optional<AwsCredentials> from_web_identity() {
  if (variable("AWS_WEB_IDENTITY_TOKEN_FILE").empty()) return std::nullopt;
  throw Error(join("AWS_WEB_IDENTITY_TOKEN_FILE is set", exported));
}

std::optional<AwsCredentials> from_profile(const Profile& profile, const fs::path& file) {
  AwsCredentials found{value_of(profile, "aws_access_key_id"),
                       value_of(profile, "aws_secret_access_key"),
                       value_of(profile, "aws_session_token")};
  if (found.key_id.empty()) return std::nullopt;
  if (found.secret.empty()) {
    fail(file, "the profile ", profile_name(), " has a key id and no aws_secret_access_key");
  }
  return found;
}

std::optional<AwsCredentials> from_shared_files() {
  const fs::path file = shared_file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  const Profile credentials = read_profile(file, profile_name()), config = config_profile();
  const fs::path config_file = shared_file("AWS_CONFIG_FILE", "config");
  if (auto found = from_profile(credentials, file)) return found;
  if (auto found = from_profile(config, config_file)) return found;
  if (credentials.empty() && config.empty() && !variable("AWS_PROFILE").empty()) {
    throw Error(join("AWS_PROFILE names the profile ", profile_name(), ", which is neither in ",
                     file.string(), " nor in ", config_file.string()));
  }
  // Whoever names other ways wants one of them, not whatever is found next.
  for (const char* const way : {"credential_process", "sso_session", "sso_start_url", "role_arn"}) {
    if (!config.contains(way) && !credentials.contains(way)) continue;
    throw Error(join("the profile ", profile_name(), " has a ", way, exported));
  }
  return std::nullopt;
}

// "2026-11-26T23:05:12Z"
std::chrono::system_clock::time_point time_of(const std::string& text) {
  std::tm parts{};
  std::istringstream stream(text);
  stream >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%S");
  if (stream.fail()) return std::chrono::system_clock::time_point::max();
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

AwsCredentials from_json(const std::string& text, const std::string& shown) {
  try {
    const auto json = nlohmann::json::parse(text);
    AwsCredentials found{json.at("AccessKeyId"), json.at("SecretAccessKey"),
                         json.value("Token", "")};
    if (json.contains("Expiration")) found.expires = time_of(json.at("Expiration"));
    return found;
  } catch (const nlohmann::json::exception&) {  // its text may hold what it read
    fail(shown, "expected credentials as JSON, found something else");
  }
}

HttpAnswer answer_to(HttpRequest request, const std::string& shown) {
  request.follows = false;
  request.is_near = true;
  return http_get([&] { return request; }, shown, max_answer);
}

std::string body_of(const HttpRequest& request, const std::string& shown) {
  const HttpAnswer answer = answer_to(request, shown);
  if (answer.status != 200) fail(shown, refusal(answer));
  return answer.body;
}

std::optional<AwsCredentials> from_container() {
  std::string url = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  const std::string relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  if (!relative.empty()) url = join(container_host, relative);
  if (url.empty()) return std::nullopt;
  HttpRequest request{url};
  std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    token = trimmed(read_text(file));
  }
  token = of_one_line(std::move(token), "AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (!token.empty()) request.headers.push_back("Authorization: " + token);
  const std::string shown = "the container's credentials";
  return from_json(body_of(request, shown), shown);
}

// Only asked where it is likely to answer: elsewhere the address is silent, and every start would wait.
std::optional<AwsCredentials> from_instance() {
  std::error_code ignored;
  const std::string disabled = variable("AWS_EC2_METADATA_DISABLED");
  if (disabled == "true" || disabled == "TRUE" || disabled == "1") return std::nullopt;
  std::string host = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (host.empty()) {
    const fs::path vendor = "/sys/devices/virtual/dmi/id/sys_vendor";
    if (!fs::exists(vendor, ignored) || !read_text(vendor).starts_with("Amazon EC2")) {
      return std::nullopt;
    }
    host = instance_host;
  }
  const std::string shown = "the instance's metadata";
  HttpRequest asks_token{join(host, "/latest/api/token"),
                         {"X-aws-ec2-metadata-token-ttl-seconds: 21600"}};
  asks_token.method = "PUT";
  const std::string token(trimmed(body_of(asks_token, shown)));
  const std::string header = "X-aws-ec2-metadata-token: " + of_one_line(token, shown);
  const std::string roles = join(host, "/latest/meta-data/iam/security-credentials/");
  const HttpAnswer answer = answer_to({roles, {header}}, shown);
  if (answer.status == 404) return std::nullopt;  // an instance without a role
  if (answer.status != 200) fail(shown, refusal(answer));
  const std::string role(trimmed(answer.body));
  return from_json(body_of({roles + role, {header}}, shown), shown);
}

}  // namespace

AwsCredentials find_aws_credentials() {
  for (const auto find :
       {from_environment, from_web_identity, from_shared_files, from_container, from_instance}) {
    auto found = find();
    if (!found) continue;
    found->key_id = of_one_line(std::move(found->key_id), "the key id of AWS's credentials");
    found->secret = of_one_line(std::move(found->secret), "the secret key of AWS's credentials");
    found->session_token =
        of_one_line(std::move(found->session_token), "the session token of AWS's credentials");
    return *found;
  }
  return {};
}

std::string aws_region() {
  std::string region;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (region.empty()) region = variable(name);
  }
  if (region.empty()) region = value_of(config_profile(), "region");
  const auto may_be = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (!std::ranges::all_of(region, may_be)) {  // a host's name is made of it
    throw Error(join("AWS_REGION, or the region of a profile, is '", region,
                     "': expected a name such as us-east-1"));
  }
  return region.empty() ? "us-east-1" : region;
}

std::string s3_endpoint() {
  for (const char* name : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) {
    if (std::string endpoint = variable(name); !endpoint.empty()) return endpoint;
  }
  return value_of(config_profile(), "endpoint_url");
}

}  // namespace feedrate::formats
