#include "formats/remote/exchange.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/base/text.h"
#include "formats/digests/fingerprint.h"
#include "formats/remote/certificates.h"
#include "formats/remote/url.h"

namespace feedrate::formats {
namespace {

static_assert(CURL_ERROR_SIZE == 256);

constexpr long connect_seconds = 15;
constexpr long near_seconds = 2;  // for the whole answer of a host that is near
constexpr std::uint64_t longest_seconds = 300;  // of an answer, beside the time for a range's bytes
constexpr long max_redirections = 5;
constexpr long receive_bytes = 128L << 10;
constexpr std::size_t max_error_body = 4096;

CURL* new_handle() {
  start_libcurl();
  CURL* handle = curl_easy_init();
  if (handle == nullptr) throw std::bad_alloc();
  return handle;
}

}  // namespace

std::string ObjectVersion::condition() const {
  if (!etag.empty() && !etag.starts_with("W/")) return join("If-Match: ", etag);
  if (!last_modified.empty()) return join("If-Unmodified-Since: ", last_modified);
  return {};
}

std::string ObjectVersion::text() const {
  return etag.starts_with("W/") ? join(condition(), " ", etag) : condition();
}

std::uint64_t version_number(const ObjectVersion& version) {
  const std::string text =
      join(version.size, " ", version.etag, " ", version.etag.empty() ? version.last_modified : "");
  return fingerprint(as_bytes(text), 0);
}

void start_libcurl() {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (ready != CURLE_OK) throw Error(join("libcurl: ", curl_easy_strerror(ready)));
}

const std::string& Exchange::trusted() {
  static const std::string file = certificates();
  return file;
}

Exchange::Exchange() : curl_(new_handle()) {}

Exchange::~Exchange() {
  curl_easy_cleanup(curl_);
  curl_slist_free_all(static_cast<curl_slist*>(headers_));
}

void Exchange::prepare(const HttpRequest& request) {
  answer_ = {};
  received_ = heard_ = 0;
  error_is_enough_ = false;
  asks_range_ = range_.size != 0;
  headers_ended_ = false;
  complaint_.clear();
  reason_[0] = '\0';
  curl_easy_reset(curl_);  // keeps connections and the cache of names
  curl_slist_free_all(static_cast<curl_slist*>(headers_));
  headers_ = nullptr;
  const auto add_header = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(static_cast<curl_slist*>(headers_), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    headers_ = longer;
  };
  for (const std::string& line : request.headers) {
    add_header(line);
    asks_range_ = asks_range_ || line.starts_with("Range: ");
  }
  if (range_.size != 0) {
    if (const std::string condition = version_.condition(); !condition.empty()) {
      add_header(condition);
    }
  }
  const bool secure = url_scheme(request.url) == "https";
  curl_easy_setopt(curl_, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, headers_);
  curl_easy_setopt(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl_, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  curl_easy_setopt(curl_, CURLOPT_FOLLOWLOCATION, request.follows ? 1L : 0L);
  curl_easy_setopt(curl_, CURLOPT_MAXREDIRS, max_redirections);
  curl_easy_setopt(curl_, CURLOPT_NOBODY, request.method == "HEAD" ? 1L : 0L);
  if (request.method == "PUT") {
    curl_easy_setopt(curl_, CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, "");  // none: a PUT otherwise reads from stdin
  }
  curl_easy_setopt(curl_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl_, CURLOPT_CONNECTTIMEOUT, connect_seconds);
  curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_LIMIT, slowest_bytes_per_second);
  curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_TIME, stalled_seconds);
  // What is no part of a body, such as headers, or is dropped, as a redirection's, has an end, too.
  const std::uint64_t longest = longest_seconds + range_.size / slowest_bytes_per_second;
  curl_easy_setopt(curl_, CURLOPT_TIMEOUT,
                   request.is_near ? near_seconds : static_cast<long>(longest));
  curl_easy_setopt(curl_, CURLOPT_QUICK_EXIT, 1L);  // nobody waits for a search of a host's address
  if (request.is_near) {
    curl_easy_setopt(curl_, CURLOPT_NOPROXY, "*");  // a proxy has another host near it
  }
  curl_easy_setopt(curl_, CURLOPT_SUPPRESS_CONNECT_HEADERS,
                   1L);  // a proxy's answer is not the server's
  curl_easy_setopt(curl_, CURLOPT_BUFFERSIZE, receive_bytes);
  curl_easy_setopt(curl_, CURLOPT_USERAGENT, "feedrate/" FEEDRATE_VERSION);
  curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, reason_);
  curl_easy_setopt(curl_, CURLOPT_HEADERFUNCTION, &Exchange::on_header);
  curl_easy_setopt(curl_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, &Exchange::on_body);
  curl_easy_setopt(curl_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl_, CURLOPT_PRIVATE, this);
  if (!trusted().empty()) curl_easy_setopt(curl_, CURLOPT_CAINFO, trusted().c_str());
}

void Exchange::prepare(const HttpRequest& request, std::uint64_t max_bytes) {
  range_ = {};
  max_bytes_ = max_bytes;
  prepare(request);
}

void Exchange::prepare(const HttpRequest& request, const ObjectVersion& version, ByteRange range,
                       std::byte* into) {
  version_ = version;
  range_ = range;
  into_ = into;
  prepare(request);
  const std::string bytes = join(range.offset, "-", range.end() - 1);
  curl_easy_setopt(curl_, CURLOPT_RANGE, bytes.c_str());
}

int Exchange::perform() {
  // libcurl calls it at least about once a second.
  const curl_xferinfo_callback ends = [](void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return stop_requested() ? 1 : 0;
  };
  curl_easy_setopt(curl_, CURLOPT_XFERINFOFUNCTION, ends);
  curl_easy_setopt(curl_, CURLOPT_NOPROGRESS, 0L);
  const CURLcode code = curl_easy_perform(curl_);
  const char* url = nullptr;
  curl_easy_getinfo(curl_, CURLINFO_EFFECTIVE_URL, &url);
  if (url != nullptr) answer_.url = url;
  return code;
}

std::size_t Exchange::on_header(const char* line, std::size_t, std::size_t count, void* self) {
  try {  // exceptions must not cross libcurl's C frames
    static_cast<Exchange*>(self)->take_header({line, count});
    return count;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::size_t Exchange::on_body(const char* bytes, std::size_t, std::size_t count, void* self) {
  try {
    return static_cast<Exchange*>(self)->take_body({bytes, count}) ? count : 0;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void Exchange::take_header(std::string_view line) {
  heard_ += line.size();
  if (line.starts_with("HTTP/")) {  // of the next answer, after a redirection
    answer_ = {};
    headers_ended_ = false;
    const std::size_t blank = std::min(line.find(' '), line.size() - 1);
    answer_.status = parse_number<long>(line.substr(blank + 1, 3)).value_or(0);
    return;
  }
  if (trimmed(line).empty()) headers_ended_ = answer_.status >= 200;  // another one follows 1xx
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "etag") answer_.etag = value;
  if (name == "last-modified") answer_.last_modified = value;
  if (name == "content-type") answer_.content_type = value;
  if (name == "content-range") answer_.content_range = value;
  if (name == "content-encoding") answer_.content_encoding = value;
  if (name == "content-length") answer_.length = parse_number<std::uint64_t>(value);
  if (name == "retry-after") answer_.retry_after_seconds = parse_number<unsigned>(value);
  if (name == "date") answer_.date = value;
  if (name == "x-amz-bucket-region") answer_.bucket_region = value;
}

bool Exchange::take_body(std::string_view bytes) {
  heard_ += bytes.size();
  if (range_.size != 0 && answers_range()) {
    complaint_ = fault_of_range();  // before the bytes of something else
    const std::uint64_t said = range_said().value_or(0);
    if (complaint_.empty() && bytes.size() > said - received_) {
      complaint_ = join("sends more than the ", said, " bytes that it says it does");
    }
    if (!complaint_.empty()) return false;
    std::memcpy(into_ + received_, bytes.data(), bytes.size());
    received_ += bytes.size();
    return true;
  }
  if (answer_.status == 200 && (range_.size != 0 || (asks_range_ && bytes.size() > max_bytes_))) {
    complaint_ =
        "the server ignores ranges (it answers with the whole object, status 200, expected 206): "
        "samples cannot be read from it one by one; copy the dataset here first";
    return false;
  }
  const bool is_error = answer_.status >= 400;
  const std::uint64_t limit = is_error ? max_error_body : max_bytes_;
  const bool fits = bytes.size() <= limit - answer_.body.size();
  answer_.body += bytes.substr(0, limit - answer_.body.size());
  if (fits) return true;
  if (!is_error) complaint_ = join("sends more than the ", limit, " bytes expected here");
  error_is_enough_ = is_error;
  return false;
}

}  // namespace feedrate::formats
