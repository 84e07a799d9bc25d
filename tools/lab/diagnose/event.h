#pragma once
// What the probe says: one JSON object a line. It comes from a process of the user's, so nothing in it is
// trusted: what is not as expected is left out. Times are seconds of the machine's monotonic clock.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace feedrate::tools {

/// A process that runs Python.
struct PythonStarted {
  std::string version{}, program{};
};
/// Every process says so first.
struct ProcessSeen {
  std::optional<std::uint32_t> rank{};
};
struct TorchSeen {
  std::string version{};
};
/// How a DataLoader, or what was given to wrap(), was made.
struct LoaderMade {
  std::string where{}, dataset{}, start{}, collate{};
  std::optional<std::uint64_t> length{}, batch{}, prefetch{};
  double samples = 0;  // in a batch, the mean of an epoch; 0: not known
  std::uint64_t workers = 0;
  bool persistent = false, pin = false, own_collate = false, iterable = false, wrapped = false;
  double when = 0;

  bool operator==(const LoaderMade&) const = default;
};
struct EpochBegun {
  double begin = 0, end = 0;  // of iter(loader)
  std::uint64_t thread = 0;
};
struct EpochEnded {
  double begin = 0;
};
/// An iterator of a DataLoader has started its workers, which are processes, from the process `parent`. `sweep`:
/// their number, where it belongs to the sweep.
struct IteratorMade {
  std::uint64_t parent = 0;
  std::vector<std::uint64_t> workers{};
  std::optional<std::uint64_t> sweep{};
};
struct WorkerStarted {
  std::uint64_t parent = 0;
  double begin = 0;
  double torch = 0;  // to import torch, before that; 0: its parent had done it
};
/// The loop got a batch. Of short steps, only some are timed in full.
struct StepBegun {
  double begin = 0, end = 0;      // of next()
  bool full = true;               // false: the rest is not known
  double cpu = 0;                 // of the thread, within
  double process = 0;             // processor time of the process, at the end
  double pin = 0;                 // copying into pinned memory since the last full one
  std::optional<double> delay{};  // waiting for a processor, within
  std::optional<std::uint64_t> samples{};
};
struct Span {
  double wall = 0, cpu = 0;  // without the spans inside
  std::uint64_t calls = 0;

  Span& operator+=(const Span& other) {
    wall += other.wall;
    cpu += other.cpu;
    calls += other.calls;
    return *this;
  }
};
/// A batch was made. Of short ones, only some are timed in full.
struct BatchMade {
  double begin = 0, end = 0;
  bool full = true;  // false: the rest is not known
  std::uint64_t samples = 0;
  double cpu = 0;
  double put_cpu = 0;                                    // pickling batches before,
  std::uint64_t puts = 0;                                // so many
  std::optional<double> delay{};                         // waiting for a processor
  std::optional<std::array<std::uint64_t, 2>> read{};    // bytes: in all, from storage
  std::optional<std::array<std::uint64_t, 3>> leaves{};  // tensors, bytes, bytes of float32 images
  std::map<std::string, Span> spans{};                   // empty: not timed in this batch
  bool first = false;     // of its process, which imports and opens what all use
  bool detailed = false;  // of a batch that is kept without its spans: whether it had some
};
/// By a worker or, with `parent` 0, by the process that takes them.
struct BatchesMade {
  std::uint64_t parent = 0;
  std::vector<BatchMade> batches{};
};
struct Swept {
  std::uint64_t workers = 0, batches = 0;
  double time = 0, cpu = 0, start = 0;
};
struct SweepRefused {
  std::string why{};
};
struct Paused {
  double begin = 0, end = 0;
};
/// Feedrate's loader took the place of a DataLoader.
struct Swapped {
  std::string name{};    // of the script's variable; "": none, or not known
  std::string method{};  // of a framework, which the script overrides to give it a loader; "": none
  bool here = false;     // whether the script's own line makes the DataLoader
  bool shared = false;   // whether a library shares it between ranks
  std::string data{};    // where the data lie
  std::uint64_t threads = 0;
  std::vector<std::string> notes{};
};
/// It did not, and why.
struct SwapLeft {
  std::string why{};
};
/// Between the pixels of the two, 0 … 255, of the same samples and drawn numbers.
struct PixelsDiffer {
  double largest = 0, mean = 0;
  std::uint64_t samples = 0;
  std::vector<std::string> left_out{};
};
/// What a loader alone supplied: theirs, or Feedrate's in its place.
struct Supplied {
  bool swapped = false;
  std::uint64_t batches = 0;
  double time = 0;
};
/// Why the two were not measured.
struct SwapUnmeasured {
  std::string why{};
};
/// Samples that Feedrate's loader could not decode, and the script's own code could.
struct StoodIn {
  std::uint64_t count = 0;
  std::string why{};  // of the last ones
};
struct Trouble {
  std::string what{};
};

struct ProbeEvent {
  std::uint64_t process = 0;
  std::uint64_t loader = 0;  // within its process; 0: none
  std::variant<std::monostate, PythonStarted, ProcessSeen, TorchSeen, LoaderMade, EpochBegun,
               EpochEnded, IteratorMade, WorkerStarted, std::vector<StepBegun>, BatchesMade, Swept,
               SweepRefused, Paused, Swapped, SwapLeft, PixelsDiffer, Supplied, SwapUnmeasured,
               StoodIn, Trouble>
      what;
};

/// Of a line that is no event, `what` is empty.
ProbeEvent read_event(std::string_view line);

}  // namespace feedrate::tools
