#include "trainer/backends/cuda/products/algorithm_cache.cuh"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/random.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view title = "feedrate algorithms 2";

// Removes the last tab and the text behind it from `line`, and returns that text; absent if there
// is no tab.
std::optional<std::string_view> take_last(std::string_view& line) {
  const std::size_t tab = line.rfind('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  const std::string_view text = line.substr(tab + 1);
  line = line.substr(0, tab);
  return text;
}

// The same for a number; absent if the text is not one.
template <class T>
std::optional<T> take_number(std::string_view& line) {
  const auto text = take_last(line);
  if (!text) return std::nullopt;
  T value{};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size()) return std::nullopt;
  return value;
}

std::optional<std::pair<std::string, AlgorithmCache::Choice>> parse(std::string_view line) {
  const auto expected = take_number<std::uint64_t>(line);
  if (!expected || *expected != checksum(line)) return std::nullopt;
  const auto milliseconds = take_number<float>(line);
  const auto engine = take_last(line);
  if (!milliseconds || !engine) return std::nullopt;
  return std::pair(std::string(line), AlgorithmCache::Choice{std::string(*engine), *milliseconds});
}

std::string line_of(const std::string& key, const AlgorithmCache::Choice& choice) {
  const std::string line = join(key, '\t', choice.engine, '\t', choice.milliseconds);
  return join(line, '\t', checksum(line));
}

}  // namespace

std::uint64_t checksum(std::string_view text) {
  std::uint64_t sum = 0;
  for (const char c : text) sum = mix64(sum ^ static_cast<unsigned char>(c));
  return sum;
}

fs::path AlgorithmCache::usual_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  fs::path cache = variable("XDG_CACHE_HOME");
  if (!cache.is_absolute()) {  // the XDG specification ignores relative paths
    const fs::path home = variable("HOME");
    if (!home.is_absolute()) return "";
    cache = home / ".cache";
  }
  return cache / "feedrate" / "algorithms.txt";
}

AlgorithmCache::AlgorithmCache(fs::path file, std::string where)
    : file_(std::move(file)), where_(std::move(where)) {
  if (file_.empty()) return;
  std::error_code failed;
  fs::create_directories(file_.parent_path(), failed);
  persistent_ = !failed && access(file_.parent_path().c_str(), W_OK | X_OK) == 0 &&
                !fs::is_directory(file_, failed);
  read();
}

void AlgorithmCache::read() {
  std::ifstream in(file_);
  std::string line;
  if (!std::getline(in, line) || line != title) return;
  while (std::getline(in, line)) {
    if (auto entry = parse(line)) choices_.insert(std::move(*entry));
  }
}

std::optional<AlgorithmCache::Choice> AlgorithmCache::find(const std::string& key) const {
  const auto found = choices_.find(join(where_, "; ", key));
  if (found == choices_.end()) return std::nullopt;
  return found->second;
}

void AlgorithmCache::add(const std::string& key, const Choice& choice) {
  const std::string whole = join(where_, "; ", key);
  added_[whole] = choice;
  choices_[whole] = choice;
}

void AlgorithmCache::save() {
  if (added_.empty() || !persistent_) return;
  choices_.clear();
  read();
  for (const auto& [key, choice] : added_) choices_[key] = choice;
  added_.clear();
  const fs::path partial = join(file_.string(), ".", getpid(), ".partial");
  std::error_code failed;
  {
    std::ofstream out(partial);
    out << title << '\n';
    for (const auto& [key, choice] : choices_) out << line_of(key, choice) << '\n';
    out.close();
    persistent_ = out.good();
  }
  if (persistent_) fs::rename(partial, file_, failed);
  if (!persistent_ || failed) fs::remove(partial, failed);
}

}  // namespace feedrate::trainer::cuda
