#pragma once
// An object of a server as late bytes: ranges that are asked for arrive in a map of the whole object,
// and give their memory back when nobody holds them any more. With a cache they arrive there, by blocks,
// and are copied into the map when they are held.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/fork_mutex.h"
#include "formats/io/late_bytes.h"
#include "formats/remote/cache.h"
#include "formats/remote/fetcher.h"
#include "formats/remote/origin.h"
#include "formats/remote/settings.h"

namespace feedrate::formats {

/// Any thread.
class RemoteObject final : public LateBytes, ForkGuard {
 public:
  /// Takes addresses for the whole object, and no memory.
  RemoteObject(std::shared_ptr<const Origin> origin, RemoteFile file,
               const RemoteSettings& settings);
  ~RemoteObject() override;

  std::uint64_t version() const override;
  Bytes map() const override { return map_; }
  /// Whether all of `part` of the map is here, so that holding it waits for nothing.
  bool has(Bytes part);
  void ask(Bytes part) noexcept override;
  void hold(Bytes part) override;
  void release(Bytes part) noexcept override;
  /// Throws Error when some bytes could not be had, though whoever wanted to hold them went on without.
  void expect_had();
  /// Drops what was asked for and is not held: nobody will come for it.
  void let_go();

 private:
  // Begin and end of a range.
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  enum class State {
    coming,
    kept,  // in the cache alone
    here,
    failed
  };
  struct Part {
    State state = State::coming;
    unsigned holds = 0;
    unsigned asked = 0;     // as often it is going to be held: counted as read ahead until then
    unsigned missing = 0;   // blocks that are coming into the cache
    bool bypasses = false;  // a block found no room there
    std::string problem;    // why it failed
  };
  using Parts = std::map<Range, Part>;
  struct ComingBlock {
    Buffer bytes;
    std::vector<Range> parts;  // that wait for it
  };

  void before_fork() override;
  void after_fork(bool is_child) override;
  Range range_of(Bytes part) const;
  Parts::iterator fetch(Range range, bool urgent);
  void begin(Parts::iterator part, bool urgent);
  void get(Range range, bool urgent);
  void get_block(std::uint64_t block, bool urgent);
  void arrived(Range range, const std::string& problem);
  void block_arrived(std::uint64_t block, std::string problem);
  void copy_from_cache(Parts::iterator part, std::unique_lock<std::mutex>& lock);
  void drop_blocks();
  bool is_here(Range range) const;
  void set_asked(Parts::iterator part, unsigned asked);
  void drop_unless_needed(Parts::iterator part);
  void drop(Parts::iterator part);
  void give_back(Range range) const;
  void start_again_after_fork();

  const std::shared_ptr<const Origin> origin_;
  const RemoteFile file_;
  const RemoteSettings settings_;
  Bytes map_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Parts parts_;
  std::string failure_;                          // the first of hold()
  std::uint64_t longest_ = 0;                    // of the ranges so far
  std::unique_ptr<CachedObject> cache_;          // null: none
  std::map<std::uint64_t, ComingBlock> blocks_;  // by their numbers
  int process_;                                  // that fetcher_ works for
  std::shared_ptr<Fetcher> fetcher_;
};

}  // namespace feedrate::formats
