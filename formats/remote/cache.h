#pragma once
// A directory of this machine that keeps blocks of servers' objects, for any number of processes.
//
//   DIR/lock             whoever writes holds it; says how many bytes are kept
//   DIR/<hash>.object    one version of an object, a sparse file:  head │ blocks │ sums of the blocks
//
// Where it cannot be written to, as on a disk that is full or mounted read-only, what it has is read.
//
// A block is written before its sums, and what disagrees with them is fetched again, so nothing that a
// process left when it was killed is taken for the object's bytes.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "formats/io/file.h"
#include "formats/remote/exchange.h"

namespace feedrate::formats {

/// What a cache keeps of a version of an object.
struct KeptObject {
  std::string url;
  std::string version;         // ObjectVersion::text()
  std::uint64_t size = 0;      // bytes of the object
  std::uint64_t kept = 0;      // bytes on disk
  std::int64_t last_used = 0;  // seconds since 1970
  bool in_use = false;         // by a process
  std::filesystem::path file{};
};

/// All of them, the one that was used longest ago first. Throws Error where there is no cache.
std::vector<KeptObject> kept_objects(const std::filesystem::path& directory);
/// Removes those that no process uses. Returns how many bytes that freed.
std::uint64_t clear_cache(const std::filesystem::path& directory);

/// Any thread.
class CacheDirectory {
 public:
  /// Creates the directory where there is none.
  CacheDirectory(std::filesystem::path path, std::uint64_t max_bytes);

  /// The one of this process.
  static std::shared_ptr<CacheDirectory> of_process(const std::filesystem::path& path,
                                                    std::uint64_t max_bytes);

  const std::filesystem::path& path() const { return path_; }
  /// Whether another block may fit: false for some seconds after one did not, and where nothing can be written.
  bool may_grow() const;
  /// The system refused to write, with this error: nothing more is kept for a while, and
  /// remote_counts() tells why. Any thread.
  void stop_growing(int problem);

  /// Holds the lock of all processes, and tells how many bytes are kept.
  class Locked {
   public:
    explicit Locked(CacheDirectory& of);
    ~Locked();
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    bool may_write() const { return !of_.read_only_.load(); }
    /// Makes room for so many more, where need be from objects that nobody uses: the one used longest ago
    /// goes first. False when there is none.
    bool make_room(std::uint64_t bytes);
    /// The files have grown by so many. Nothing where they cannot be written.
    void add(std::int64_t bytes);
    /// Counts what there is.
    void recount();

   private:
    std::uint64_t used() const;
    void set_used(std::uint64_t bytes) const;

    CacheDirectory& of_;
  };

 private:
  std::filesystem::path path_;
  std::uint64_t max_bytes_;
  Descriptor lock_;
  int process_ = 0;  // that opened lock_: a forked one shares it, and would not be kept out
  std::atomic<bool> read_only_{false};
  std::atomic<std::int64_t> full_until_{0};  // milliseconds
};

/// A version of an object. Nobody removes it while it is open. Any thread.
class CachedObject {
 public:
  static constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;

  /// `url` holds no secrets.
  CachedObject(std::shared_ptr<CacheDirectory> directory, std::string url, ObjectVersion version);

  ByteRange block(std::uint64_t number) const;
  bool has(std::uint64_t block);
  bool may_grow() const { return may_write_ && directory_->may_grow(); }
  /// Keeps a block that it has not. False when there is no room, or the disk refuses.
  bool keep(std::uint64_t block, Bytes bytes);
  /// Reads a range of blocks that it has. False, and it no longer has it, where a block is not what was kept.
  bool read(ByteRange range, std::byte* into);
  /// Whoever forks calls them, after it has taken what its user holds while it calls.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }
  /// Asks the system to read a range from disk. Does not wait for it.
  void read_ahead(ByteRange range) const;

 private:
  static constexpr std::uint64_t part_bytes = std::uint64_t{1} << 16;  // with a sum of its own
  static constexpr std::size_t parts = block_bytes / part_bytes;
  struct Sums {
    std::uint64_t check = 0;  // of the others; 0: the block is not here
    std::uint64_t part[parts] = {};
  };

  void open_file();
  bool open_to_write();
  void open_to_read();
  int begin_file();
  bool is_ours() const;
  Sums sums_of(std::uint64_t block, Bytes bytes) const;
  bool read_sums(std::uint64_t block, Sums& sums) const;
  std::uint64_t place_of_sums(std::uint64_t block) const;
  bool read_parts(std::uint64_t block, ByteRange range, std::byte* into);
  void forget(std::uint64_t block);

  std::shared_ptr<CacheDirectory> directory_;
  std::string head_;
  std::uint64_t size_;
  std::filesystem::path file_;
  Descriptor descriptor_;  // none where nothing is kept and nothing can be
  bool may_write_ = true;
  std::mutex mutex_;
  std::vector<bool> known_;              // blocks that are here; under mutex_
  std::vector<bool> damaged_;            // blocks that nobody can write anew; under mutex_
  std::vector<std::uint16_t> verified_;  // a bit for each part, by this process; under mutex_
};

}  // namespace feedrate::formats
