#include "tests/support/range_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "formats/base/error.h"
#include "formats/remote/url.h"

namespace feedrate::testing {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

// Changes with the file, as nginx's does.
std::string etag_of(const fs::path& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return formats::join('"', status.st_mtim.tv_sec, '.', status.st_mtim.tv_nsec, '-', status.st_size,
                       '"');
}

std::string listing(const fs::path& directory) {
  std::string page = "<html><body><a href=\"../\">../</a>\n";
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    page += "<a href=\"" + formats::percent_encoded(name) + (entry.is_directory() ? "/" : "") +
            "\">" + name + "</a>\n";
  }
  return page + "</body></html>\n";
}

std::string head_of(int status, const std::string& headers, std::size_t length) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Length: " + std::to_string(length) +
         "\r\n" + headers + "\r\n";
}

}  // namespace

RangeServer::RangeServer(fs::path directory)
    : directory_(std::move(directory)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket_, generic, size) != 0 || ::listen(socket_, 256) != 0 ||
      ::getsockname(socket_, generic, &size) != 0) {
    throw std::runtime_error("no port for a test's server");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

RangeServer::~RangeServer() {
  stops_.store(true);
  ::shutdown(socket_, SHUT_RDWR);
  acceptor_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int connection : open_) ::shutdown(connection, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  ::close(socket_);
}

std::string RangeServer::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

void RangeServer::set_faults(std::function<Fault(const ServedRequest&)> faults) {
  const std::lock_guard lock(mutex_);
  faults_ = std::move(faults);
}

std::vector<ServedRequest> RangeServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void RangeServer::accept_all() {
  for (;;) {
    const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return;
    const int on = 1;
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    connections_.fetch_add(1);
    const std::lock_guard lock(mutex_);
    open_.push_back(connection);
    threads_.emplace_back([this, connection] {
      serve(connection);
      const std::lock_guard inner(mutex_);
      std::erase(open_, connection);
      ::close(connection);
    });
  }
}

void RangeServer::serve(int connection) {
  std::string received;
  while (!stops_.load()) {
    std::size_t end = 0;
    while ((end = received.find("\r\n\r\n")) == std::string::npos) {
      char block[4096];
      const ssize_t count = ::read(connection, block, sizeof block);
      if (count <= 0) return;
      received.append(block, static_cast<std::size_t>(count));
    }
    std::istringstream lines(received.substr(0, end));
    received.erase(0, end + 4);
    ServedRequest request;
    lines >> request.method >> request.path;
    request.path = formats::percent_decoded(request.path);
    std::string line;
    while (std::getline(lines, line)) {
      if (line.ends_with('\r')) line.pop_back();
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos) {
        request.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
      }
    }
    Fault fault;
    {
      const std::lock_guard lock(mutex_);
      request.number = requests_.size();
      requests_.push_back(request);
      if (faults_) fault = faults_(request);
    }
    if (fault.delay.count() != 0) std::this_thread::sleep_for(fault.delay);
    const bool is_whole = !fault.resets && answer(connection, request, fault);
    if (!is_whole && fault.cut_head_after != ~std::size_t{})
      return;  // an end as of a server that stops
    if (!is_whole) {
      const linger at_once{1, 0};  // close() then resets the connection
      ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      return;
    }
  }
}

bool RangeServer::answer(int connection, const ServedRequest& request, const Fault& fault) {
  if (fault.status != 0) {
    return send(connection, head_of(fault.status, fault.headers, fault.body.size()), fault.body,
                fault);
  }
  const bool is_head = request.method == "HEAD";
  if (is_head && refuses_head_.load()) return send(connection, head_of(403, "", 0), "", fault);
  const std::string name = request.path.substr(0, request.path.find('?'));
  const fs::path path = directory_ / name.substr(1);
  if (fs::is_directory(path)) {
    if (!name.ends_with('/')) {
      return send(connection, head_of(301, "Location: " + name + "/\r\n", 0), "", fault);
    }
    const std::string page = listing(path);
    return send(connection, head_of(200, "Content-Type: text/html\r\n", page.size()),
                is_head ? "" : page, fault);
  }
  if (!fs::exists(path)) return send(connection, head_of(404, "", 0), "", fault);
  const std::string content = read_all(path);
  const std::string etag = fault.etag.empty() ? etag_of(path) : fault.etag;
  const std::string version = fault.states_no_version ? "" : "ETag: " + etag + "\r\n";
  std::string headers = fault.headers + version + "Content-Type: application/octet-stream\r\n";
  const auto wanted = request.headers.find("if-match");
  if (wanted != request.headers.end() && wanted->second != etag && !fault.ignores_conditions) {
    return send(connection, head_of(412, headers, 0), "", fault);
  }
  const auto range = request.headers.find("range");
  if (range == request.headers.end() || fault.ignores_ranges) {
    return send(connection, head_of(200, headers, content.size()), is_head ? "" : content, fault);
  }
  const std::size_t dash = range->second.find('-');
  const std::size_t first = std::stoul(range->second.substr(6)) + fault.shift;
  const std::size_t last =
      std::min(std::stoul(range->second.substr(dash + 1)) + fault.shift, content.size() - 1);
  if (first >= content.size()) return send(connection, head_of(416, headers, 0), "", fault);
  const std::string part = content.substr(first, last - first + 1);
  if (fault.says_200) return send(connection, head_of(200, headers, part.size()), part, fault);
  headers += "Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(last) + "/" +
             (fault.hides_size ? "*" : std::to_string(content.size())) + "\r\n";
  return send(connection, head_of(206, headers, part.size()), part, fault);
}

// False when the connection is to be broken.
bool RangeServer::send(int connection, const std::string& head, const std::string& body,
                       const Fault& fault) {
  const bool cuts_head = fault.cut_head_after < head.size();
  const std::string whole =
      cuts_head ? head.substr(0, fault.cut_head_after) : head + body.substr(0, fault.cut_after);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t count = ::send(connection, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return !cuts_head && fault.cut_after >= body.size();
}

}  // namespace feedrate::testing
