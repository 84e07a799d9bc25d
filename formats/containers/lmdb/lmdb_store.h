#pragma once
// An LMDB environment that is being written: entries go straight into the pages of an open
// transaction, which is committed whenever it holds a batch. One thread at a time, not necessarily
// the same one. If the process is killed, the file holds everything up to the last commit. Every
// failure is an Error that names the file.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// What a result of liblmdb means: its text, without the name of the code in front of it.
std::string lmdb_reason(int result);

class LmdbStore {
 public:
  /// Creates `data`, or opens an existing file, which must have been checked: liblmdb trusts it.
  /// Makes no lock file, so no other process may use the file meanwhile.
  explicit LmdbStore(const std::filesystem::path& data);
  ~LmdbStore();
  LmdbStore(const LmdbStore&) = delete;
  LmdbStore& operator=(const LmdbStore&) = delete;

  /// Adds `key` and returns the memory for its value, to be filled before the next call of any
  /// kind.
  MutableBytes put(std::string_view key, std::size_t size);
  void remove(std::string_view key);
  /// Commits the batch, which then survives a kill.
  void commit();
  /// Commits and syncs everything to disk.
  void sync();
  /// Commits, closes, and writes the map size that Caffe's tools would have reached.
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace feedrate::formats
