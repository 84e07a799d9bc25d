#include "tools/lab/measure/storage.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <vector>

#include "formats/base/text.h"
#include "tools/lab/measure/proc.h"

namespace feedrate::tools {
using namespace formats;

namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = line.find(' ');
    words.push_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return words;
}

/// "/a\040b" → "/a b": mountinfo writes blanks, line ends and backslashes as three octal digits.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t k) {
      return i + k < text.size() && text[i + k] >= '0' && text[i + k] <= '7' ? text[i + k] - '0'
                                                                             : -1;
    };
    if (text[i] == '\\' && digit(1) >= 0 && digit(2) >= 0 && digit(3) >= 0) {
      plain += static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool lies_below(const fs::path& path, const fs::path& point) {
  const auto [in_point, in_path] = std::ranges::mismatch(point, path);
  return in_point == point.end();
}

// After the dash come the type, the source and the file system's own options; the number of words
// before it varies.
std::optional<Mount> parse_mount(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  const auto dash = std::ranges::find(words, "-");
  if (dash - words.begin() < 6 || words.end() - dash < 3) return std::nullopt;
  return Mount{std::string(words[2]), unescaped(words[4]), std::string(dash[1]),
               std::string(words[5]), unescaped(dash[2])};
}

/// The content of a small file, without blanks around it; "" when it cannot be read.
std::string line_of(const fs::path& file) {
  const std::string text = text_of(file).value_or("");
  return std::string(trimmed(text));
}

/// The device below a mapped one; nothing when there is none or several.
std::optional<fs::path> only_slave(const fs::path& device) {
  std::error_code absent;
  std::vector<fs::path> below;
  for (const auto& entry : fs::directory_iterator(device / "slaves", absent)) {
    below.push_back(entry.path());
  }
  if (below.size() != 1) return std::nullopt;
  const fs::path whole = fs::canonical(below.front(), absent);
  return absent ? std::nullopt : std::optional(whole);
}

}  // namespace

std::optional<Mount> mount_of(std::string_view mountinfo, const fs::path& path) {
  std::optional<Mount> best;
  while (!mountinfo.empty()) {
    std::optional<Mount> mount = parse_mount(take_line(mountinfo));
    if (!mount || !lies_below(path, mount->point)) continue;
    // Of two mounts on one point, the later one hides the earlier.
    if (!best || mount->point.size() >= best->point.size()) best = std::move(mount);
  }
  return best;
}

std::optional<Disk> disk_of(const std::string& device, const fs::path& sys) {
  std::error_code absent;
  fs::path found = fs::canonical(sys / "dev/block" / device, absent);
  if (absent) return std::nullopt;
  constexpr int max_layers = 8;  // of mappings and partitions; more would be a cycle
  for (int i = 0; i < max_layers; ++i) {
    if (fs::exists(found / "partition", absent)) {
      found = found.parent_path();
    } else if (const auto below = only_slave(found)) {
      found = *below;
    } else {
      break;
    }
  }
  Disk disk{line_of(found / "device/model"), std::nullopt};
  if (disk.name.empty()) disk.name = found.filename().string();
  const std::string rotational = line_of(found / "queue/rotational");
  if (rotational == "0" || rotational == "1") disk.rotational = rotational == "1";
  return disk;
}

Storage storage_of(const fs::path& path) {
  std::error_code absent;
  const fs::path real = fs::canonical(path, absent);
  const std::optional<std::string> mounts = text_of("/proc/self/mountinfo");
  if (path.empty() || absent || !mounts) return {};
  Storage storage{mount_of(*mounts, real), std::nullopt};
  if (!storage.mount) return storage;
  // A file system that may span disks (btrfs) has a device number of its own, "0:…", and names one
  // of its disks as its source.
  std::string device = storage.mount->device;
  struct stat source {};
  if (device.starts_with("0:") && storage.mount->source.starts_with("/dev/") &&
      stat(storage.mount->source.c_str(), &source) == 0 && S_ISBLK(source.st_mode)) {
    device = fmt::format("{}:{}", major(source.st_rdev), minor(source.st_rdev));
  }
  storage.disk = disk_of(device);
  return storage;
}

}  // namespace feedrate::tools
