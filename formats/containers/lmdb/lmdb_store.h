#pragma once
// An LMDB environment that is being written: entries are put straight into the pages of an open
// transaction, which is committed whenever it holds a batch. One thread at a time, not always the
// same one. Killed at any moment, the file holds the last commit whole. Every failure is an Error
// that names the file.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "formats/base/bytes.h"

namespace feedrate::formats {

class LmdbStore {
 public:
  /// Makes `data`, or opens the one that is there: liblmdb trusts it, so its pages must have been
  /// checked. No lock file is made: nobody else may be at work.
  explicit LmdbStore(const std::filesystem::path& data);
  ~LmdbStore();
  LmdbStore(const LmdbStore&) = delete;
  LmdbStore& operator=(const LmdbStore&) = delete;

  /// Puts `key` and gives the memory for its value, to be filled before the next call of any kind.
  MutableBytes put(std::string_view key, std::size_t size);
  void remove(std::string_view key);
  /// Ends the batch: from here on it survives a kill.
  void commit();
  /// Commits and brings everything to disk.
  void sync();
  /// Commits, closes, and states the size of map that Caffe's tools would have come to.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace feedrate::formats
