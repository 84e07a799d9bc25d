#pragma once
// How far Python's Loader has come.

#include <cstdint>
#include <deque>

#include "formats/base/fork_mutex.h"
#include "loader/loader.h"

namespace feedrate::tools {

/// The state of a Loader. Its runs have it in common, and take turns: only the newest one hands out
/// batches. A batch is first taken and, once its receiver holds it, handed out; the state lies behind
/// the batches that were handed out without a gap. So what is taken and lost on its way, by Ctrl-C or
/// an exception, comes again. Any thread; nothing waits for long.
class Progress {
 public:
  explicit Progress(loader::LoaderState start) : state_(start) {}

  struct Turn {
    std::uint64_t number;
    loader::LoaderState start;
  };
  /// A batch on its way to its receiver.
  struct Taken {
    std::uint64_t turn = 0;
    std::uint64_t number = 0;  // in that turn
  };

  loader::LoaderState state() const;
  /// Ends the turn there is, at `state`.
  void go_to(loader::LoaderState state);
  /// Ends the turn there is, where it stands, and begins another.
  Turn begin();
  bool lasts(std::uint64_t turn) const;
  /// Takes the next batch of the turn; `behind` is the state after it. Batches are taken in their order.
  Taken take(std::uint64_t turn, loader::LoaderState behind);
  /// Returns false, and changes nothing, if its turn has ended.
  bool hand_out(Taken batch);

 private:
  struct OnItsWay {
    loader::LoaderState behind;
    bool handed_out = false;
  };

  void end_turn();

  // One for all: a child may ask how far its parent's loader had come.
  static inline formats::ForkMutex& mutex_ = *new formats::ForkMutex;
  loader::LoaderState state_;
  std::uint64_t turn_ = 0;
  std::deque<OnItsWay> on_their_way_;  // since the first batch that was not handed out
  std::uint64_t first_on_its_way_ = 0;
};

}  // namespace feedrate::tools
