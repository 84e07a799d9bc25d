#pragma once
// The fastest algorithm for each key, measured once and kept in a file, so that later runs choose
// the same:
//
//   feedrate algorithms 3
//   <CRC-32C of what follows> TAB <milliseconds> TAB <engine and its knobs> TAB <where>; <key>
//
// Damaged lines, and files of another version, are ignored; their keys are measured again. For one
// thread; several processes may share a file.

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace feedrate::trainer::cuda {

class AlgorithmCache {
 public:
  struct Choice {
    std::string engine;  // its name; neither it nor a key contains tabs
    float milliseconds = 0;
  };

  /// `where` names what times depend on besides the key: the device and the library. An empty
  /// `file` keeps nothing. A missing or damaged file is not an error.
  AlgorithmCache(std::filesystem::path file, std::string where);

  /// $XDG_CACHE_HOME/feedrate/algorithms.txt, else ~/.cache/feedrate/algorithms.txt; "" if neither
  /// variable is an absolute path.
  static std::filesystem::path usual_file();

  /// Whether later runs will find what is added. If not, do not choose by measurement, because two
  /// runs could choose differently.
  bool persistent() const { return persistent_; }
  std::optional<Choice> find(const std::string& key) const;
  void add(const std::string& key, const Choice& choice);
  /// Writes what was added, and keeps what other processes have written meanwhile. A file that
  /// cannot be written is not an error: persistent() is false then.
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
