#pragma once
// A web server on the loopback that serves ranges of a directory's files over connections that stay, and
// misbehaves as it is told to.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace feedrate::testing {

struct ServedRequest {
  std::string method;
  std::string path;                            // decoded, with the query
  std::map<std::string, std::string> headers;  // names in lower case
  std::uint64_t number = 0;                    // of all requests, from 0
};

/// What is wrong with an answer.
struct Fault {
  int status = 0;                          // sent in place of the answer; 0: the answer itself
  std::string headers = {};                // further lines, each with its end
  std::string body = {};                   // of that status
  std::size_t cut_after = ~std::size_t{};  // bytes of the body, then the connection breaks
  bool resets = false;                     // breaks the connection without an answer
  std::chrono::milliseconds delay{0};      // before it is sent
  std::string etag = {};                   // in place of the file's
  bool states_no_version = false;
  std::size_t cut_head_after = ~std::size_t{};  // bytes of the headers, then the connection breaks
  bool ignores_conditions = false;
  bool ignores_ranges = false;
  bool says_200 = false;  // with the range asked for
  bool hides_size = false;  // Content-Range: bytes 0-9/*
  std::size_t shift = 0;    // sends the range this many bytes further
};

class RangeServer {
 public:
  explicit RangeServer(std::filesystem::path directory);
  ~RangeServer();
  RangeServer(const RangeServer&) = delete;
  RangeServer& operator=(const RangeServer&) = delete;

  /// Without a slash at its end.
  std::string url() const;
  /// Replaces what is called for each request, from any thread. To be set between requests.
  void set_faults(std::function<Fault(const ServedRequest&)> faults);
  std::vector<ServedRequest> requests() const;
  std::uint64_t connections() const { return connections_.load(); }
  /// Answers to HEAD are refused: as an address signed for GET alone.
  void refuse_head() { refuses_head_.store(true); }

 private:
  void accept_all();
  void serve(int connection);
  bool answer(int connection, const ServedRequest& request, const Fault& fault);
  bool send(int connection, const std::string& head, const std::string& body, const Fault& fault);

  std::filesystem::path directory_;
  int socket_;
  unsigned port_ = 0;
  mutable std::mutex mutex_;
  std::function<Fault(const ServedRequest&)> faults_;  // under mutex_
  std::vector<ServedRequest> requests_;                // under mutex_
  std::vector<std::thread> threads_;                   // under mutex_
  std::vector<int> open_;                              // under mutex_
  std::atomic<std::uint64_t> connections_{0};
  std::atomic<bool> refuses_head_{false};
  std::atomic<bool> stops_{false};
  std::thread acceptor_;
};

}  // namespace feedrate::testing
