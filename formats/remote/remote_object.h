#pragma once
// An object of a server as late bytes: ranges that are asked for arrive in a map of the whole object,
// and give their memory back when nobody holds them any more.

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "formats/io/late_bytes.h"
#include "formats/remote/fetcher.h"
#include "formats/remote/origin.h"
#include "formats/remote/settings.h"

namespace feedrate::formats {

/// Any thread.
class RemoteObject final : public LateBytes {
 public:
  /// Takes addresses for the whole object, and no memory.
  RemoteObject(std::shared_ptr<const Origin> origin, RemoteFile file,
               const RemoteSettings& settings);
  ~RemoteObject() override;

  std::uint64_t version() const override;
  Bytes map() const override { return map_; }
  void ask(Bytes part) noexcept override;
  void hold(Bytes part) override;
  void release(Bytes part) noexcept override;
  /// Drops what was asked for and is not held: nobody will come for it.
  void let_go();

 private:
  // Begin and end of a range.
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  enum class State { coming, here, failed };
  struct Part {
    State state = State::coming;
    unsigned holds = 0;
    unsigned asked = 0;   // as often it is going to be held: counted as read ahead until then
    std::string problem;  // why it failed
  };
  using Parts = std::map<Range, Part>;

  Range range_of(Bytes part) const;
  Parts::iterator fetch(Range range, bool urgent);
  void arrived(Range range, const std::string& problem);
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
  std::uint64_t longest_ = 0;  // of the ranges so far
  int process_;                // that fetcher_ works for
  std::shared_ptr<Fetcher> fetcher_;
};

}  // namespace feedrate::formats
