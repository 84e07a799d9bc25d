#pragma once
// One request over HTTP/1.1 and its answer, through libcurl.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

using CURL = void;  // as curl/curl.h has it

namespace feedrate::formats {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers = {};  // "Name: value"
  bool follows = true;                    // redirections
  std::string method = "GET";             // HEAD, PUT without a body
  bool is_near = false;                   // answers at once, or is not there
};

/// A run of bytes of an object.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // at least 1
  std::uint64_t end() const { return offset + size; }
};

/// One version of an object: all of its bytes are read from the same one.
struct ObjectVersion {
  std::uint64_t size = 0;
  std::string etag = {};           // with its quotes; empty where the server states none
  std::string last_modified = {};  // likewise

  /// The request header ("Name: value") by which a server refuses any other version; empty where versions
  /// cannot be told apart.
  std::string condition() const;
  /// The condition, and what else tells versions apart: a line for people, too.
  std::string text() const;
};

/// A hash of the version: equal for equal versions.
std::uint64_t version_number(const ObjectVersion& version);

struct HttpAnswer {
  long status = 0;
  std::string url = {};  // after redirections
  std::string etag = {};
  std::string last_modified = {};
  std::string content_type = {};
  std::string content_range = {};
  std::string content_encoding = {};
  std::string bucket_region = {};  // x-amz-bucket-region
  std::string date = {};           // by the server's clock
  std::optional<std::uint64_t> length = {};
  std::optional<unsigned> retry_after_seconds = {};
  std::string body = {};  // unless the bytes went elsewhere; of an error, its beginning
};

/// The sentence for an answer that is a refusal: "there is no such object (status 404)".
std::string refusal(const HttpAnswer& answer);

/// What came of an exchange.
struct Outcome {
  enum class Kind { done, repeat, failed } kind = Kind::failed;
  std::string reason = {};  // a sentence without the URL; empty when done
  bool was_silent = false;  // the server said nothing, until it was no longer waited for
};

/// Initialises libcurl, once in a process. Throws Error when it cannot. Any thread.
void start_libcurl();

/// One exchange after another on a handle of libcurl's, which keeps its connection. One thread at a time.
class Exchange {
 public:
  Exchange();
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Prepares to fetch what the URL names, of at most `max_bytes`, into answer().body.
  void prepare(const HttpRequest& request, std::uint64_t max_bytes);
  /// Prepares to fetch a range of one version of an object into memory of range.size bytes.
  void prepare(const HttpRequest& request, const ObjectVersion& version, ByteRange range,
               std::byte* into);

  CURL* handle() const { return curl_; }
  /// Waits for the answer. Returns libcurl's code.
  int perform();
  /// Judges the exchange, which ended with libcurl's code. A status is an answer of prepare(max_bytes),
  /// and a failure of a range.
  Outcome outcome(int code) const;
  const HttpAnswer& answer() const { return answer_; }
  /// How many bytes of the range came before a failure, and are those asked for.
  std::uint64_t received() const;

  static constexpr long slowest_bytes_per_second = 100;  // a server that sends less has stalled

 private:
  static constexpr long stalled_seconds = 20;  // in which it sends less

  static const std::string& trusted();  // certificates
  static std::size_t on_header(const char* line, std::size_t, std::size_t count, void* self);
  static std::size_t on_body(const char* bytes, std::size_t, std::size_t count, void* self);

  void prepare(const HttpRequest& request);
  void take_header(std::string_view line);
  bool take_body(std::string_view bytes);
  bool answers_range() const;
  bool is_other_version() const;
  Outcome outcome_of_failure(int code) const;
  std::string fault_of_encoding() const;
  std::string fault_of_range() const;
  std::optional<std::uint64_t> range_said() const;
  Outcome judge_range() const;

  CURL* curl_;
  void* headers_ = nullptr;  // curl_slist
  HttpAnswer answer_;
  std::uint64_t max_bytes_ = 0;
  ObjectVersion version_;
  ByteRange range_;            // size 0: what the URL names
  std::byte* into_ = nullptr;  // for a range
  std::uint64_t received_ = 0;  // of the range
  std::uint64_t heard_ = 0;     // of headers and bodies
  bool asks_range_ = false;
  bool headers_ended_ = false;
  bool error_is_enough_ = false;  // what came of a refusal's body
  std::string complaint_;  // why the body was not taken
  char reason_[256] = {};  // CURL_ERROR_SIZE
};

}  // namespace feedrate::formats
