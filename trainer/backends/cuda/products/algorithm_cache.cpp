#include "trainer/backends/cuda/products/algorithm_cache.cuh"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <system_error>
#include <utility>

#include "formats/base/checksum.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/file.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view title = "feedrate algorithms 3";

std::optional<std::pair<std::string, AlgorithmCache::Choice>> parse(std::string_view line) {
  const auto expected = take_number<std::uint32_t>(line, '\t');
  if (!expected || *expected != crc32c(as_bytes(line))) return std::nullopt;
  const auto milliseconds = take_number<float>(line, '\t');
  if (!milliseconds) return std::nullopt;
  const std::string engine(take_column(line));
  return std::pair(std::string(line), AlgorithmCache::Choice{engine, *milliseconds});
}

std::string line_of(const std::string& key, const AlgorithmCache::Choice& choice) {
  const std::string line = join(choice.milliseconds, '\t', choice.engine, '\t', key);
  return join(crc32c(as_bytes(line)), '\t', line, '\n');
}

}  // namespace

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
  std::string text = join(title, '\n');
  for (const auto& [key, choice] : choices_) text += line_of(key, choice);
  try {
    write_text(file_, text);
  } catch (const Error&) {
    persistent_ = false;
  }
}

}  // namespace feedrate::trainer::cuda
