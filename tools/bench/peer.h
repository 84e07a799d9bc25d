#pragma once
// Other frameworks in a bench: adapters (tools/peers/<tool>.py) that train our networks on our
// datasets with the framework's own loader, each measurement in a process of its own.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/plan.h"
#include "tools/bench/process.h"

namespace feedrate::tools {

/// Names that --tool takes: feedrate, and every framework with an adapter.
std::span<const std::string_view> bench_tools();
/// Throws Error, with the nearest one, when there is no tool of that name.
void check_tool(std::string_view name);

/// Adapters, asked once each what they can do. They are those beside the program or installed with
/// it, or in the directory $FEEDRATE_PEERS; $FEEDRATE_PYTHON runs them, or else python3.
class Peers {
 public:
  /// Why it cannot measure the point, in a sentence; "": it can, as we ourselves can any.
  std::string cannot(const Run& point);

  /// Takes out the points of frameworks that are not there, or whose adapter cannot do them.
  /// Returns a sentence for each reason. Throws Error when an adapter itself fails.
  std::vector<std::string> leave_out(std::vector<BenchPoint>& points);

  /// Measures a point that was left in, once. Throws Error with the adapter's last words when it
  /// fails or gives no JSON object.
  Finished run(const BenchPoint& point, const BenchOptions& options) const;

  /// "pytorch 1.13.0, Python 3.11.2"
  std::string libraries(const std::string& tool) const;

 private:
  struct Abilities {
    std::string absent{};  // why the framework is not there; "": it is
    std::string libraries{};
    std::set<std::string> formats{}, recipes{};
    unsigned least_threads = 0;
  };
  static Abilities ask(const std::string& tool);
  const Abilities& abilities(const std::string& tool);

  std::map<std::string, Abilities> asked_;
};

}  // namespace feedrate::tools
