#pragma once
// Other frameworks in a bench. Adapters (tools/lab/peers/<tool>.py) train our networks on our datasets
// with the framework's own loader; each measurement is a process of its own.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/bench/plan.h"
#include "tools/lab/bench/process.h"

namespace feedrate::tools {

/// Names that --tool accepts: feedrate and every framework with an adapter, as its users run it and,
/// after a colon, in other ways (`pytorch:compile` runs the adapter with --compile).
std::span<const std::string_view> bench_tools();

/// The adapters; each is asked once what it can do. They stand beside the program, are installed
/// with it, or are in the directory $FEEDRATE_PEERS. $FEEDRATE_PYTHON (or else python3) runs them.
/// Not thread-safe.
class Peers {
 public:
  /// Why the point's tool cannot measure it, in a sentence; "" when it can. Feedrate can measure
  /// any.
  std::string cannot(const Row& point);

  /// Removes the points of frameworks that are not installed, or whose adapter cannot measure them.
  /// Returns a sentence for each reason. Throws Error when an adapter itself fails.
  std::vector<std::string> leave_out(std::vector<BenchPoint>& points);

  /// Measures a point that leave_out() kept, once. Throws Error with the last line of the adapter's
  /// stderr when it fails, or when its output is not a JSON object.
  Finished run(const BenchPoint& point, const BenchOptions& options) const;

  /// "pytorch 1.13.0, Python 3.11.2"
  std::string libraries(const std::string& tool) const;

 private:
  struct Abilities {
    std::string absent{};  // why the framework is missing; "": it is installed
    std::string libraries{};
    std::set<std::string> formats{}, recipes{};
    std::set<std::string> kinds{};                          // besides those that all measure
    std::map<std::string, std::set<std::string>> ways{};    // by device
    std::map<std::string, std::set<std::string>> trains{};  // precisions by device
    unsigned least_threads = 0;
  };
  static Abilities ask(const std::string& tool);
  const Abilities& abilities(const std::string& tool);

  std::map<std::string, Abilities> asked_;
};

}  // namespace feedrate::tools
