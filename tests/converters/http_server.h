#pragma once
// A web server on the loopback for download tests: one connection at a time; it can misbehave.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace feedrate::testing {

class HttpServer {
 public:
  HttpServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, generic, size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~HttpServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// "GET /name from 123" for each request so far.
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  // Set before the first request.
  std::map<std::string, std::string> files;  // "/name" → content
  std::size_t cut_after = ~std::size_t{0};   // bytes of a body, then the connection breaks
  bool ranges = true;

 private:
  void serve() {
    for (;;) {
      const int connection = ::accept(socket_, nullptr, nullptr);
      if (connection < 0) return;
      answer(connection);
      ::close(connection);
    }
  }

  void answer(int connection) {
    std::string request;
    char block[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t count = ::read(connection, block, sizeof block);
      if (count <= 0) return;
      request.append(block, static_cast<std::size_t>(count));
    }
    const std::string name = request.substr(4, request.find(' ', 4) - 4);
    std::size_t from = 0;
    const std::string range = "Range: bytes=";
    if (const std::size_t at = request.find(range); ranges && at != std::string::npos) {
      from = std::stoul(request.substr(at + range.size()));
    }
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back("GET " + name + " from " + std::to_string(from));
    }
    const auto file = files.find(name);
    if (file == files.end()) return send(connection, "404 Not Found", "", "");
    const std::string& content = file->second;
    if (from != 0 && from >= content.size()) {
      return send(connection, "416 Range Not Satisfiable", "", "");
    }
    const std::string part = "Content-Range: bytes " + std::to_string(from) + "-" +
                             std::to_string(content.size() - 1) + "/" +
                             std::to_string(content.size()) + "\r\n";
    send(connection, from != 0 ? "206 Partial Content" : "200 OK", from != 0 ? part : "",
         content.substr(from));
  }

  void send(int connection, const std::string& status, const std::string& headers,
            const std::string& body) {
    std::string answer = "HTTP/1.1 " + status +
                         "\r\nContent-Length: " + std::to_string(body.size()) +
                         "\r\nConnection: close\r\n" + headers + "\r\n" + body.substr(0, cut_after);
    std::string_view rest = answer;
    while (!rest.empty()) {
      const ssize_t count = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  int socket_;
  unsigned port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::string> requests_;
};

}  // namespace feedrate::testing
