#include "formats/remote/origin.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/remote/http_get.h"
#include "formats/remote/http_origin.h"
#include "formats/remote/s3_origin.h"
#include "formats/remote/url.h"

namespace feedrate::formats {
namespace {

constexpr unsigned askers = 16;

// A path split behind its last slash.
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

RemotePlace locate_http(Url url) {
  url.user = escaped(url.user, "@");
  url.query = escaped(url.query);
  auto [directory, file] = split(url.path);
  file = percent_decoded(file);
  const std::string shown = without_secrets(url.text());
  if (file.find('/') != std::string::npos || file.find('\0') != std::string::npos) {
    fail(shown,
         "names a file whose name holds a slash or a zero (%2F, %00), which no directory does");
  }
  if (!file.empty() && file.find('{') == std::string::npos) {
    url.path = escaped(url.path);
    HttpRequest head{url.text()};
    head.method = "HEAD";
    const HttpAnswer answer = http_get([&] { return head; }, shown, 0);
    // A server redirects from a directory's name without a slash to the one with it.
    if (answer.status == 200 && parse_url(answer.url).path == url.path + "/") {
      directory = url.path + "/";
      file.clear();
    }
  }
  url.path = directory.empty() ? "/" : escaped(directory);
  return {std::make_shared<HttpOrigin>(std::move(url)), file};
}

RemotePlace locate_s3(const Url& url, const RemoteSettings& settings) {
  if (!url.user.empty()) {
    fail(without_secrets(url.text()),
         "an s3:// URL has no user and password: keys come from the environment or AWS's files");
  }
  const std::string path = url.path.empty() ? "" : url.path.substr(1);
  const auto [prefix, file] = split(path);
  if (!file.empty() && file.find('{') == std::string::npos) {
    auto below = std::make_shared<S3Origin>(url.host, path + "/", settings.endpoint);
    const Listing listing = below->list();
    if (!listing.files.empty() || !listing.directories.empty()) return {below, ""};
  }
  return {std::make_shared<S3Origin>(url.host, prefix, settings.endpoint), file};
}

}  // namespace

std::vector<RemoteFile> find_all(const Origin& origin, const std::vector<std::string>& names) {
  std::vector<std::optional<RemoteFile>> answers(names.size());
  sweep(names.size(), askers, [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) answers[i] = origin.find(names[i]);
  });
  std::vector<RemoteFile> found;
  for (auto& answer : answers) {
    if (answer) found.push_back(std::move(*answer));
  }
  return found;
}

RemotePlace locate_url(std::string_view text, const RemoteSettings& settings) {
  const Url url = parse_url(text);
  if (url.scheme == "s3") return locate_s3(url, settings);
  if (url.scheme == "http" || url.scheme == "https") return locate_http(url);
  fail(without_secrets(text), "expected a URL that begins with https://, http:// or s3://, found ",
       url.scheme, "://; copy the dataset here first, for instance with rclone");
}

}  // namespace feedrate::formats
