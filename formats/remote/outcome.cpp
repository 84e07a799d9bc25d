// What came of an exchange: whether it is over, worth repeating, or refused, and why.

#include <curl/curl.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <pugixml.hpp>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/base/xml.h"
#include "formats/remote/certificates.h"
#include "formats/remote/exchange.h"

namespace feedrate::formats {
namespace {

// True for failures that may be gone when the same is asked again.
bool worth_repeating(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
      return true;
    default:
      return false;
  }
}

bool worth_repeating(long status) {
  return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

// "AccessDenied: Access Denied." of the XML that S3 sends with a refusal; empty for another body.
std::string s3_error(std::string_view body) {
  try {
    pugi::xml_document document;
    parse_xml(body, document);
    const pugi::xml_node error = document.child("Error");
    const std::string_view code = xml_text(error.child("Code"));
    if (code.empty()) return {};
    return join(code, ": ", xml_text(error.child("Message")));
  } catch (const Error&) {
    return {};
  }
}

// The variable that may name a proxy, though no_proxy may except this host; nothing where none does.
const char* proxy_variable() {
  constexpr const char* names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                   "ALL_PROXY"};
  const auto* const named = std::ranges::find_if(names, [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr && *value != '\0';
  });
  return named == std::end(names) ? nullptr : *named;
}

// "; this machine's clock is 90 minutes behind the server's", where S3 would mind; else nothing.
std::string clocks_differ(const std::string& date_of_server) {
  constexpr std::int64_t minute = 60, fewest_minutes = 5;
  const std::int64_t there = curl_getdate(date_of_server.c_str(), nullptr);
  if (there < 0) return {};
  const std::int64_t minutes = (there - std::int64_t{std::time(nullptr)}) / minute;
  if (std::abs(minutes) < fewest_minutes) return {};
  return join("; this machine's clock is ", std::abs(minutes), " minutes ",
              minutes > 0 ? "behind" : "ahead of", " the server's");
}

// The reason phrases that people know.
std::string_view phrase(long status) {
  switch (status) {
    case 401:
      return "the server asks who you are";
    case 403:
      return "the server forbids it";
    case 404:
      return "there is no such object";
    case 407:
      return "the proxy asks who you are";
    case 410:
      return "the object is gone";
    case 416:
      return "the object has no such bytes";
    case 429:
      return "the server asks to wait: too many requests";
    case 503:
      return "the server is too busy";
    default:
      return status < 400 ? "the server does not send what was asked for" : "the server refuses";
  }
}

}  // namespace

std::string refusal(const HttpAnswer& answer) {
  const std::string more = s3_error(answer.body);
  std::string text = join(phrase(answer.status), " (status ", answer.status);
  if (!more.empty()) text += join(", ", more);
  if (!answer.bucket_region.empty() && answer.status >= 300) {
    text += join("; the bucket is in the region ", answer.bucket_region,
                 ": AWS_REGION names the region to ask");
  }
  if (answer.status == 403) text += clocks_differ(answer.date);  // a signature has a time
  return text + ")";
}

// Whether the answer's body is the range. Some servers send a range as 200, without saying which.
bool Exchange::answers_range() const {
  if (answer_.status == 206) return true;
  return answer_.status == 200 && answer_.length == range_.size;
}

Outcome Exchange::outcome(int code_number) const {
  const auto code = error_is_enough_ ? CURLE_OK : static_cast<CURLcode>(code_number);
  using Kind = Outcome::Kind;
  if (!complaint_.empty()) return {Kind::failed, complaint_};
  if (headers_ended_ && answer_.status < 300) {
    if (std::string fault = fault_of_encoding(); !fault.empty()) {
      return {Kind::failed, std::move(fault)};
    }
  }
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
    return {Kind::failed, reason_ + trusted_text(trusted())};
  }
  if (code != CURLE_OK) return outcome_of_failure(code);
  // When a connection breaks within the headers, libcurl reports success, with the headers that came.
  if (!headers_ended_)
    return {Kind::repeat, "the connection ended within the headers of an answer"};
  if (worth_repeating(answer_.status)) return {Kind::repeat, refusal(answer_)};
  return range_.size == 0 ? Outcome{Kind::done, {}} : judge_range();
}

// The code is libcurl's, of an exchange without a whole answer.
Outcome Exchange::outcome_of_failure(int code_number) const {
  const auto code = static_cast<CURLcode>(code_number);
  using Kind = Outcome::Kind;
  long of_proxy = 0;  // its status, where it was to connect us with the server
  curl_easy_getinfo(curl_, CURLINFO_HTTP_CONNECTCODE, &of_proxy);
  if (of_proxy >= 400 && !headers_ended_) {
    return {worth_repeating(of_proxy) ? Kind::repeat : Kind::failed,
            join("the proxy does not connect to the server (status ", of_proxy, ")")};
  }
  const std::string_view told = reason_;
  const bool may_be_told = !told.empty() && told.find('@') == std::string_view::npos;  // a user's
  const std::string reason = may_be_told ? reason_ : curl_easy_strerror(code);
  if (code == CURLE_OPERATION_TIMEDOUT && reason.starts_with("Operation too slow")) {
    const std::string seconds = join(" for ", stalled_seconds, " seconds");
    if (heard_ == 0) return {Kind::repeat, "the server sent nothing" + seconds, true};
    return {Kind::repeat,
            join("the server sent less than ", slowest_bytes_per_second, " bytes a second", seconds,
                 "; of its answer, with the headers, ", heard_, " bytes came"),
            true};
  }
  if (code == CURLE_OPERATION_TIMEDOUT && heard_ != 0 &&
      reason.starts_with("Operation timed out")) {
    return {Kind::failed, join("the answer came too slowly: ", reason)};
  }
  const char* const variable = proxy_variable();
  if (told.starts_with("Unsupported proxy")) {  // libcurl would quote it, with its password
    return {Kind::failed,
            join(variable == nullptr ? "the environment" : variable,
                 " names a proxy that cannot be used: expected http://host:3128, https://, "
                 "socks4:// or socks5:// (%XX for special characters of a password)")};
  }
  const bool may_be_proxys = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_PROXY;
  return {worth_repeating(code) ? Kind::repeat : Kind::failed,
          may_be_proxys && variable != nullptr ? join(reason, " (", variable, " names a proxy)")
                                               : reason,
          code == CURLE_OPERATION_TIMEDOUT};
}

// Nobody asked for an encoding, and a range of what is encoded is no range of the object. S3 keeps
// "aws-chunked", which tells how the object once came, with objects that some tools stored.
std::string Exchange::fault_of_encoding() const {
  const std::string& encoding = answer_.content_encoding;
  if (encoding.empty() || encoding == "identity" || encoding == "aws-chunked") return {};
  return join("is sent with Content-Encoding: ", encoding,
              ", so that bytes are not those of the object: turn that off for it");
}

// Compares the tags, or else the times, as far as both are stated.
bool Exchange::is_other_version() const {
  if (!version_.etag.empty() && !answer_.etag.empty()) return version_.etag != answer_.etag;
  return !version_.last_modified.empty() && !answer_.last_modified.empty() &&
         version_.last_modified != answer_.last_modified;
}

std::string Exchange::fault_of_range() const {
  const std::string& expected_version =
      version_.etag.empty() ? version_.last_modified : version_.etag;
  if (answer_.status == 412 || (answers_range() && is_other_version())) {
    return join("was changed while it was being read: expected the version ", expected_version,
                ", found ", answer_.etag.empty() ? "another one" : answer_.etag);
  }
  if (!answers_range()) return refusal(answer_);
  if (std::string fault = fault_of_encoding(); !fault.empty()) return fault;
  if (!expected_version.empty() && answer_.etag.empty() && answer_.last_modified.empty()) {
    return join(
        "the server no longer says which version it sends (no ETag, no Last-Modified), "
        "expected ",
        expected_version);
  }
  if (!range_said()) {
    const bool has_parts = answer_.content_type.starts_with("multipart/");
    return join("asked for bytes ", range_.offset, "-", range_.end() - 1, "/", version_.size,
                ", the server sends ",
                !answer_.content_range.empty() ? answer_.content_range
                : has_parts                    ? "several parts (" + answer_.content_type + ")"
                                               : "bytes without saying which");
  }
  return {};
}

// How many bytes the answer says it holds, from the beginning of the range: a server may send only some
// of those asked for. Nothing where it says others, or another size of the object; some leave that out.
std::optional<std::uint64_t> Exchange::range_said() const {
  if (answer_.status == 200 && answer_.content_range.empty()) return range_.size;
  std::string_view text = answer_.content_range;
  constexpr std::string_view unit = "bytes ";
  if (!text.starts_with(unit)) return std::nullopt;
  text.remove_prefix(unit.size());
  const auto first = take_number<std::uint64_t>(text, '-');
  const auto last = take_number<std::uint64_t>(text, '/');
  if (first != range_.offset || !last || *last < *first || *last >= range_.end())
    return std::nullopt;
  if (text != "*" && parse_number<std::uint64_t>(text) != version_.size) return std::nullopt;
  return *last - *first + 1;
}

std::uint64_t Exchange::received() const { return fault_of_range().empty() ? received_ : 0; }

Outcome Exchange::judge_range() const {
  using Kind = Outcome::Kind;
  if (std::string fault = fault_of_range(); !fault.empty()) {
    return {Kind::failed, std::move(fault)};
  }
  if (received_ != range_.size) {
    return {Kind::repeat, join("sends ", received_, " bytes of the ", range_.size, " asked for")};
  }
  return {Kind::done, {}};
}

}  // namespace feedrate::formats
