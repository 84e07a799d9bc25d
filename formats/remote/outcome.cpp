// What came of an exchange: whether it is over, worth repeating, or refused, and why.

#include <curl/curl.h>

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

// libcurl quotes what it cannot read of the environment, such as a proxy with its password.
std::string without_users(std::string text) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) {
    const std::size_t begin = text.find_last_of("'\"", at) + 1;  // 0 where there is none
    text.erase(begin, at + 1 - begin);
  }
  return text;
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
      return "the server refuses";
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
  return text + ")";
}

// Whether the answer's body is the range. Some servers send a range as 200, without saying which.
bool Exchange::answers_range() const {
  if (answer_.status == 206) return true;
  return answer_.status == 200 && answer_.length == range_.size;
}

Outcome Exchange::outcome(int code_number) const {
  const auto code = static_cast<CURLcode>(code_number);
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
  if (code == CURLE_OPERATION_TIMEDOUT &&
      std::string_view(reason_).starts_with("Operation too slow")) {
    return {Kind::repeat, join("the server sent nothing for ", stalled_seconds, " seconds"), true};
  }
  const std::string reason = reason_[0] != '\0' ? reason_ : curl_easy_strerror(code);
  return {worth_repeating(code) ? Kind::repeat : Kind::failed, without_users(reason),
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
  const std::string bytes = join("bytes ", range_.offset, "-", range_.end() - 1, "/");
  const std::string expected = join(bytes, version_.size);
  const bool says_which = answer_.status == 206 || !answer_.content_range.empty();
  // Some servers leave the size out; the version holds it.
  const bool is_right = answer_.content_range == expected || answer_.content_range == bytes + "*";
  if (says_which && !is_right) {
    return join(
        "asked for ", expected, ", the server sends ",
        answer_.content_range.empty() ? "bytes without saying which" : answer_.content_range);
  }
  return {};
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
