#include "trainer/backends/cuda/products/conv_choice.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/error.h"
#include "trainer/backends/cuda/products/algorithm_cache.cuh"
#include "trainer/backends/cuda/products/conv_engine.cuh"
#include "trainer/backends/cuda/products/engine_timer.cuh"
#include "trainer/communicators/communicator.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

/// How many entries of cuDNN's list are measured: of each engine the one that cuDNN expects to be
/// fastest, then others.
constexpr std::size_t max_measured = 24;

bool uses_tensor_cores(const ConvEngine& engine) {
  return std::ranges::find(engine.notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != engine.notes.end();
}

/// "67 2=0 errs by 1.3 times what rounding explains"; from ten times on without decimals.
std::string error_of_engine(std::string_view name, double error) {
  const auto tenths = std::isfinite(error) ? std::llround(std::min(error, 1e15) * 10) : 0;
  const std::string times = join(tenths / 10, tenths < 100 ? join(".", tenths % 10) : "");
  return join(name, " errs by ", std::isfinite(error) ? times : "infinitely many",
              " times what rounding explains");
}

/// A choice among the engines that cuDNN offers for a convolution, of the batch or of parts of it.
class Choice {
 public:
  Choice(const LayerSite& site, const ConvShape& shape, ConvDirection direction)
      : site_(site),
        shape_(shape),
        direction_(direction),
        arithmetic_(site.context.tf32() ? Arithmetic::tensor_cores : Arithmetic::fma) {}

  ConvCall make() {
    if (site_.communicator == nullptr || site_.communicator->rank() == 0) choose();
    if (site_.communicator != nullptr) agree();
    chosen_.node = site_.node().name;
    chosen_.product = name_of(direction_);
    chosen_.workspace = call_->workspace();
    if (site_.engines != nullptr) site_.engines->push_back(std::move(chosen_));
    return std::move(*call_);
  }

 private:
  bool caches() const { return site_.algorithms != nullptr && site_.algorithms->persistent(); }

  /// What the time depends on besides the device and the library.
  std::string key() const {
    return join(name_of(direction_), "; ", text_of(shape_),
                arithmetic_ == Arithmetic::fma ? "; fma" : "; tensor cores");
  }

  void choose() {
    if (caches() && take_cached()) return;
    std::optional<EngineTimer> timer;
    try {
      timer.emplace(site_.context, shape_);
    } catch (const Error&) {
      // The session reports later how much memory the network needs and the device has.
    }
    const bool measures = caches() && timer;
    float least = 0;
    bool fast = false;
    for (std::int64_t parts = 1; parts <= max_conv_parts && !fast; ++parts) {
      if (!can_split(shape_, direction_, parts)) continue;
      split(parts);
      std::size_t left = max_measured;
      each_engine([&](ConvEngine& engine, Offer offer) {
        ConvExecution execution = build(engine);
        if (timer) try_out(*timer, engine, execution);
        const auto all = static_cast<float>(parts);
        const float took = measures ? timer->best(execution, least / all) * all : 0;
        works_ = true;
        const bool is_fast = why_slow(engine, offer).empty();
        if (!call_ || (measures ? took < least : is_fast)) {
          take(engine, offer, std::move(execution));
          least = took;
        }
        fast |= is_fast;
        return measures ? --left == 0 : is_fast;
      });
      if (!lacks_room_) break;  // parts would help nobody
    }
    if (!call_ && wrong_) return take_wrong();
    if (!call_) refuse();
    if (!measures) return;
    if (fast) chosen_.fallback.clear();  // one that was expected to be faster was not
    chosen_.milliseconds = least;
    site_.algorithms->add(key(), {chosen_.name, least});
    site_.algorithms->save();  // a session that is cut short has measured for the next one
  }

  /// Throws Error if the engine fails, or if its results are not what it says.
  void try_out(EngineTimer& timer, const ConvEngine& engine, ConvExecution& execution) {
    timer.try_out(execution, direction_);
    const double error = timer.error(part_of(shape_, parts_), direction_, arithmetic_);
    if (error <= 1) return;
    const std::string name = engine.name + text_of_parts(parts_);
    if (!wrong_ || (wrong_->parts == parts_ && error < wrong_->error)) {
      wrong_ = {name, parts_, error};
    }
    chosen_.passed_over.push_back(error_of_engine(name, error));
    throw Error(join("engine ", chosen_.passed_over.back()));
  }

  /// Better than none, and told; not kept. Throws Error where it does not work a second time.
  void take_wrong() {
    take_named(wrong_->name);
    if (!call_) refuse();
    const std::string own = error_of_engine(wrong_->name, wrong_->error);
    std::erase(chosen_.passed_over, own);
    chosen_.fallback = join("engine ", own);
  }

  /// Takes the cached engine only if cuDNN still offers it: the file does not say whether an engine
  /// keeps our promises.
  bool take_cached() {
    const auto before = site_.algorithms->find(key());
    if (!before) return false;
    was_fastest_ = true;
    take_named(before->engine);
    was_fastest_ = false;
    if (call_) chosen_.milliseconds = before->milliseconds;
    return call_.has_value();
  }

  /// Takes the first rank's engine, by its name, because cuDNN may offer another rank another list.
  void agree() {
    const std::string engine = site_.communicator->of_first(chosen_.name);
    if (call_) return;
    take_named(engine);
    if (call_) return;
    throw Error(join("the first rank's engine for the ", name_of(direction_),
                     " does not work on rank ", site_.communicator->rank(), " (", problem(),
                     "); do all ranks have the same GPU and the same cuDNN?"));
  }

  /// Takes the engine of that name, if cuDNN offers it.
  void take_named(const std::string& name) {
    const std::int64_t parts = parts_in(name);
    if (!can_split(shape_, direction_, parts)) return;
    split(parts);
    each_engine([&](ConvEngine& engine, Offer offer) {
      if (engine.name + text_of_parts(parts_) != name) return false;
      take(engine, offer, build(engine));
      works_ = true;
      return true;
    });
  }

  enum class Offer : std::uint8_t { fast, fallback };

  void split(std::int64_t parts) {
    parts_ = parts;
    graph_ = std::make_shared<const ConvGraph>(site_.context.cudnn(), part_of(shape_, parts),
                                               direction_);
    works_ = lacks_room_ = offers_fast_ = offers_cores_ = false;
  }

  /// Calls enough(engine, offer) for each engine that cuDNN offers, until it returns true: first
  /// for those expected to be fast, then, if none of them works, for the fallbacks that work
  /// everywhere. An engine for which it throws is skipped.
  template <class Enough>
  void each_engine(const Enough& enough) {
    for (const Offer offer : {Offer::fast, Offer::fallback}) {
      const auto mode = offer == Offer::fast ? CUDNN_HEUR_MODE_A : CUDNN_HEUR_MODE_FALLBACK;
      std::vector<ConvEngine> engines;
      attempt([&] { engines = different_first(engines_of(*graph_, mode, arithmetic_)); });
      offers_fast_ |= offer == Offer::fast && !engines.empty();
      for (std::size_t i = 0; i < std::min(engines.size(), max_measured); ++i) {
        offers_cores_ |= offer == Offer::fast && uses_tensor_cores(engines[i]);
      }
      bool done = false;
      for (std::size_t i = 0; i < engines.size() && !done; ++i) {
        attempt([&] { done = enough(engines[i], offer); });
      }
      if (works_) return;
    }
  }

  template <class Body>
  void attempt(const Body& body) {
    try {
      body();
    } catch (const Error& problem) {
      cudaGetLastError();  // clears it, so that the next launch does not report it again
      problem_ = problem.what();
    }
  }

  /// Throws Error if cuDNN cannot build the engine, or if it needs more workspace than allowed.
  ConvExecution build(ConvEngine& engine) {
    const Context& context = site_.context;
    ConvExecution execution(context.cudnn(), std::move(engine.config));
    if (execution.workspace() <= context.workspace_limit()) return execution;
    lacks_room_ = true;
    throw Error(join("engine ", engine.name, " needs ", execution.workspace() >> 20,
                     " MiB of workspace, more than ", context.workspace_limit() >> 20));
  }

  void take(const ConvEngine& engine, Offer offer, ConvExecution execution) {
    // Destroys the previous one first.
    call_.emplace(shape_, direction_, parts_, graph_, std::move(execution));
    chosen_.name = engine.name + text_of_parts(parts_);
    chosen_.notes = words_of(engine.notes);
    chosen_.fallback = why_slow(engine, offer);
  }

  /// "" for an engine as fast as the precision lets one expect. In strict fp32, cuDNN's list is at
  /// times full of engines with tensor cores, which we leave out. Its fallbacks are then all the
  /// engines that it has, and so accepted: tests/trainer/cudnn holds that against its answers.
  std::string why_slow(const ConvEngine& engine, Offer offer) const {
    const bool accepted = arithmetic_ == Arithmetic::fma && !offers_fast_;
    if (offer == Offer::fallback && !accepted) {
      return problem_.empty() ? "cuDNN offers it as a fallback"
                              : join("none that cuDNN expects to be fast works: ", problem_);
    }
    if (accepted && lacks_room_) return problem_;
    if (arithmetic_ == Arithmetic::fma) return "";
    const bool was_faster = was_fastest_ && offers_cores_;
    return uses_tensor_cores(engine) || was_faster ? "" : "it does not use tensor cores";
  }

  std::string problem() const { return problem_.empty() ? "it offers no other" : problem_; }

  [[noreturn]] void refuse() const {
    throw Error(join("cuDNN has no deterministic engine that works for the ", name_of(direction_),
                     " (", text_of(shape_), "); ", problem()));
  }

  const LayerSite& site_;
  const ConvShape& shape_;
  ConvDirection direction_;
  Arithmetic arithmetic_;
  std::int64_t parts_ = 1;                  // of the batch, for which engines are asked now
  std::shared_ptr<const ConvGraph> graph_;  // of one part
  struct Wrong {
    std::string name;
    std::int64_t parts;
    double error;
  };
  std::optional<Wrong> wrong_;  // the best of those whose results are not what they say
  bool works_ = false;          // an engine, for this number of parts
  bool lacks_room_ = false;     // so does an engine's workspace
  bool offers_fast_ = false;    // so does cuDNN
  bool offers_cores_ = false;   // and one of the engines that are measured uses tensor cores
  bool was_fastest_ = false;    // the engine that is to be taken, when it was measured
  std::optional<ConvCall> call_;
  ProductEngine chosen_;  // the engine in call_
  std::string problem_;   // why the last engine was skipped; "" if none was
};

}  // namespace

ConvCall choose_engine(const LayerSite& site, const ConvShape& shape, ConvDirection direction) {
  try {
    return Choice(site, shape, direction).make();
  } catch (const Error& problem) {
    throw Error(join(site.node().name, ": ", problem.what()));
  }
}

}  // namespace feedrate::trainer::cuda
