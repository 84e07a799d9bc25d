#pragma once
// Which algorithm was the fastest, found by the clock once and kept in a file, so that later runs
// choose the same:
//
//   feedrate algorithms 2
//   <where>; <key> TAB <engine and its knobs> TAB <milliseconds> TAB <checksum of what is before
//   it>
//
// What is damaged, or of another number, is not read, and measured anew. One thread; several
// processes may share a file.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace feedrate::trainer::cuda {

/// Tells texts apart, by chance alike in one of 2^64.
std::uint64_t checksum(std::string_view text);

class AlgorithmCache {
 public:
  struct Choice {
    std::string engine;  // by its name; neither it nor a key has tabs
    float milliseconds = 0;
  };

  /// `where` is what times depend on beside the key: the device and the library. Without a file
  /// nothing is kept. Never throws for what the file holds, or for a file that is not there.
  AlgorithmCache(std::filesystem::path file, std::string where);

  /// $XDG_CACHE_HOME/feedrate/algorithms.txt, or ~/.cache/…; "" where neither is known.
  static std::filesystem::path usual_file();

  /// Whether later runs will find what is added. If not, nobody should choose by the clock: two
  /// runs could differ.
  bool persistent() const { return persistent_; }
  std::optional<Choice> find(const std::string& key) const;
  void add(const std::string& key, const Choice& choice);
  /// Writes what was added, beside what other processes have written meanwhile.
  void save();

 private:
  void read();

  std::filesystem::path file_;
  std::string where_;
  bool persistent_ = false;
  std::map<std::string, Choice> choices_;
  std::map<std::string, Choice> added_;
};

}  // namespace feedrate::trainer::cuda
