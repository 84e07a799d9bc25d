#include "converters/downloads/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/io/file.h"
#include "formats/remote/certificates.h"
#include "formats/remote/exchange.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr int attempts = 4;           // in a row without progress
constexpr long connect_seconds = 20;  // then try the next mirror
constexpr long stalled_seconds = 60;  // without a byte received
constexpr long range_not_satisfied = 416;

struct Curl {
  Curl() {
    start_libcurl();
    handle = curl_easy_init();
    if (handle == nullptr) throw std::bad_alloc();
  }
  ~Curl() { curl_easy_cleanup(handle); }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;
  CURL* handle = nullptr;
};

class Transfer {
 public:
  explicit Transfer(const Download& what) : what_(what) {
    file_ = Descriptor(::open(what.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!file_) fail_errno(what.file, "cannot write", errno);
    const off_t end = ::lseek(file_.number(), 0, SEEK_END);
    if (end < 0) fail_errno(what.file, "cannot seek", errno);
    have_ = static_cast<std::uint64_t>(end);
    set_options();
  }

  bool run() {
    bool kept = have_ != 0;
    for (int attempt = 1;; ++attempt) {
      const std::uint64_t before = have_;
      curl_easy_setopt(curl_.handle, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(have_));
      const CURLcode code = curl_easy_perform(curl_.handle);
      if (thrown_) std::rethrow_exception(thrown_);
      if (code == CURLE_OK || all_there(code)) break;
      // The server does not support ranges, or our file is not the start of its file.
      const bool cannot_continue = code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME;
      if (have_ > before) attempt = 0;  // retry as long as there is progress
      if (attempt == attempts || !(cannot_continue || attempt == 0 || worth_repeating(code))) {
        fail_transfer(code);
      }
      if (cannot_continue) {
        start_again();
        kept = false;
      }
    }
    if (::fsync(file_.number()) != 0) fail_errno(what_.file, "cannot reach the disk", errno);
    return kept;
  }

 private:
  void set_options() {
    CURL* curl = curl_.handle;
    curl_easy_setopt(curl, CURLOPT_URL, what_.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https,file");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, connect_seconds);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, stalled_seconds);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "feedrate/" FEEDRATE_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason_);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
    if (!certificates_.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, certificates_.c_str());
  }

  static std::size_t on_bytes(const char* bytes, std::size_t, std::size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {  // exceptions must not cross libcurl's C frames
      transfer.append({bytes, count});
      return count;
    } catch (...) {
      transfer.thrown_ = std::current_exception();
      return 0;
    }
  }

  void append(std::string_view bytes) {
    throw_if_stop_requested();
    if (have_ + bytes.size() > what_.max_bytes) {
      fail(what_.url, "sends more than the ", what_.max_bytes, " bytes allowed for this file");
    }
    while (!bytes.empty()) {
      const ssize_t count = ::write(file_.number(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_errno(what_.file, "cannot write", errno);
      bytes.remove_prefix(static_cast<std::size_t>(count));
      have_ += static_cast<std::uint64_t>(count);
    }
    if (what_.progress) what_.progress(have_);
  }

  void start_again() {
    if (::ftruncate(file_.number(), 0) != 0) fail_errno(what_.file, "cannot empty", errno);
    have_ = 0;
  }

  long status() const {
    long status = 0;
    curl_easy_getinfo(curl_.handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

  // True if we asked for bytes beyond the end of the file. Its hash shows whether it is complete.
  bool all_there(CURLcode code) const {
    return code == CURLE_HTTP_RETURNED_ERROR && have_ != 0 && status() == range_not_satisfied;
  }

  static bool worth_repeating(CURLcode code) {
    return code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
           code == CURLE_OPERATION_TIMEDOUT;
  }

  [[noreturn]] void fail_transfer(CURLcode code) const {
    const std::string reason = reason_[0] != '\0' ? reason_ : curl_easy_strerror(code);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
      fail(what_.url, reason, trusted_text(certificates_));
    }
    fail(what_.url, reason);
  }

  const Download& what_;
  const std::string certificates_ = certificates();
  Curl curl_;
  Descriptor file_;
  std::uint64_t have_ = 0;
  std::exception_ptr thrown_;
  char reason_[CURL_ERROR_SIZE] = {};
};

}  // namespace

bool download(const Download& what) { return Transfer(what).run(); }

}  // namespace feedrate::converters
