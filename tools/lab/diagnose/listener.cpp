#include "tools/lab/diagnose/listener.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "formats/base/error.h"
#include "tools/lab/diagnose/kept_out.h"

namespace feedrate::tools {
using namespace formats;
namespace fs = std::filesystem;

// The parts of the probe's one file.
extern const std::string_view probe_times, probe_batches, probe_loops, probe_sweep, probe_swap,
    probe_start;

namespace {

constexpr int attention = 20;  // ms until the end is noticed
constexpr std::size_t longest_line = std::size_t{1} << 20;

fs::path make_directory() {
  // A socket's path has 107 bytes, which TMPDIR may exceed.
  fs::path base = fs::temp_directory_path();
  if (base.string().size() > 80) base = "/tmp";
  std::string name = (base / "feedrate-diagnose-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) fail_errno(name, "cannot create", errno);
  return name;
}

void write_file(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) fail(path, "cannot write it");
}

/// The directory that holds the package which came with this program; "": there is none.
fs::path package_place() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  // Of a build, and of a wheel: site-packages/feedrate/bin/feedrate.
  for (const fs::path& place :
       {program.parent_path() / "python", program.parent_path().parent_path().parent_path()}) {
    if (fs::exists(place / "feedrate" / "torch.py", failed)) return place;
  }
  return {};
}

/// A name and a value for each, with a null character behind; those that are empty are not set.
std::string settings_text(const ProbeSettings& settings) {
  std::string text;
  const auto add = [&](std::string_view name, const auto& value) {
    text += fmt::format("{} {}", name, value);
    text += '\0';  // a path has any other character
  };
  add("sweep", settings.sweep ? 1 : 0);
  add("seconds", settings.seconds);
  add("cores", settings.cores);
  add("swap", settings.swap ? 1 : 0);
  if (settings.threads) add("threads", *settings.threads);
  if (const fs::path place = package_place(); !place.empty()) add("package", place.string());
  if (settings.restart) {
    add("workers", settings.restart->workers);
    add("steps", settings.restart->steps);
    add("where", settings.restart->where);
  }
  if (!settings.converted_to.empty()) {
    add("directory", fs::absolute(settings.converted_to).string());
  }
  return text;
}

/// Bytes of one process, as lines.
class Lines {
 public:
  template <class Take>
  void add(std::string_view bytes, const Take& take) {
    text_ += bytes;
    std::size_t from = 0;
    for (std::size_t end; (end = text_.find('\n', from)) != std::string::npos; from = end + 1) {
      take(std::string_view(text_).substr(from, end - from));
    }
    text_.erase(0, from);
    if (text_.size() > longest_line) text_.clear();
  }

 private:
  std::string text_;
};

}  // namespace

Listener::Listener(const ProbeSettings& settings) : directory_(make_directory()) {
  write_file(directory_ / "sitecustomize.py",
             fmt::format("{}\n\n{}\n\n{}\n\n{}\n\n{}\n\n{}", probe_times, probe_batches,
                         probe_loops, probe_sweep, probe_swap, probe_start));
  write_file(directory_ / "settings", settings_text(settings));
  socket_ = Descriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (directory_ / "socket").string();
  path.copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
  if (!socket_ ||
      bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket_.number(), SOMAXCONN) != 0) {
    const int reason = errno;
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
    fail_errno(path, "cannot listen", reason);
  }
  thread_ = std::thread([this] { listen(); });
}

Listener::~Listener() { close(); }

void Listener::close() {
  ending_ = true;
  if (thread_.joinable()) thread_.join();
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

void Listener::listen() {
  std::map<int, std::pair<Descriptor, Lines>> talkers;
  std::string buffer(std::size_t{64} << 10, '\0');
  KeptOut kept_out;
  for (;;) {
    const bool last = ending_;
    if (!last && seen_.loaders.empty()) kept_out.look(directory_, seen_.processes);
    seen_.kept_out = kept_out.why();
    std::vector<pollfd> ready{{socket_.number(), POLLIN, 0}};
    for (const auto& [number, talker] : talkers) ready.push_back({number, POLLIN, 0});
    const int count = poll(ready.data(), ready.size(), last ? 0 : attention);
    if (count <= 0) {
      if (last) return;
      continue;
    }
    if ((ready.front().revents & POLLIN) != 0) {
      Descriptor talker(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
      const int number = talker.number();
      if (talker) talkers[number].first = std::move(talker);
    }
    for (std::size_t i = 1; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      const ssize_t got = recv(ready[i].fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) {
        talkers.erase(ready[i].fd);
        continue;
      }
      talkers[ready[i].fd].second.add(
          std::string_view(buffer).substr(0, static_cast<std::size_t>(got)),
          [&](std::string_view line) { seen_.add(read_event(line)); });
    }
  }
}

Seen Listener::finish() {
  close();
  seen_.finish();
  return std::move(seen_);
}

}  // namespace feedrate::tools
