#include "trainer/backends/cuda/conv_choice.cuh"

#include <algorithm>
#include <optional>
#include <vector>

#include "formats/error.h"
#include "trainer/backends/cuda/algorithm_cache.cuh"
#include "trainer/backends/cuda/conv_calls.cuh"
#include "trainer/communicator.h"
#include "trainer/ops/check.h"

namespace feedrate::cuda {
namespace {

/// Of cuDNN's list, which begins with what it expects to be fastest.
constexpr std::size_t most_measured = 4;
/// The best of so many: what disturbs a run only makes it longer.
constexpr int measured_runs = 3;

/// In fp32, FMA is the only arithmetic that cuDNN may use.
cudnnMathType_t allowed_math(const Context& context, cudnnMathType_t wanted) {
  return context.tf32() ? wanted : CUDNN_FMA_MATH;
}

Convolution make_convolution(const OpSite& site) {
  const Attributes& attributes = site.node.attributes;
  const int stride = dimension(attributes.integer("stride"));
  const int pad = static_cast<int>(attributes.integer("pad"));
  auto convolution = make<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>(
      "cudnnCreateConvolutionDescriptor", cudnnCreateConvolutionDescriptor);
  check(cudnnSetConvolution2dDescriptor(convolution.get(), pad, pad, stride, stride, 1, 1,
                                        CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        "cudnnSetConvolution2dDescriptor");
  check(cudnnSetConvolutionGroupCount(convolution.get(), dimension(groups_of(attributes))),
        "cudnnSetConvolutionGroupCount");
  return convolution;
}

void set_math(const Convolution& convolution, cudnnMathType_t math) {
  check(cudnnSetConvolutionMathType(convolution.get(), math), "cudnnSetConvolutionMathType");
}

template <class Algorithm>
struct Candidate {
  Algorithm algorithm;
  cudnnMathType_t math;
  std::size_t workspace;
};

/// cuDNN's list in its order, but only what keeps our promises.
template <class Calls>
std::vector<Candidate<typename Calls::Algorithm>> candidates(const OpSite& site,
                                                             const ConvTensors& tensors,
                                                             const Convolution& convolution) {
  const cudnnHandle_t cudnn = site.context.cudnn();
  int count = 0;
  check(Calls::max_count(cudnn, &count), "cudnnGetConvolution…AlgorithmMaxCount");
  std::vector<typename Calls::Performance> results(static_cast<std::size_t>(count));
  set_math(convolution, allowed_math(site.context, CUDNN_DEFAULT_MATH));
  check(Calls::ask(cudnn, tensors, convolution.get(), count, &count, results.data()),
        "cudnnGetConvolution…Algorithm_v7");
  results.resize(static_cast<std::size_t>(count));
  std::vector<Candidate<typename Calls::Algorithm>> found;
  for (const auto& result : results) {
    if (result.status != CUDNN_STATUS_SUCCESS) continue;
    if (result.determinism != CUDNN_DETERMINISTIC) continue;
    const cudnnMathType_t math = allowed_math(site.context, result.mathType);
    const bool there = std::any_of(found.begin(), found.end(), [&](const auto& other) {
      return other.algorithm == result.algo && other.math == math;
    });
    if (there) continue;
    set_math(convolution, math);
    std::size_t need = 0;
    if (Calls::bytes(cudnn, tensors, convolution.get(), result.algo, &need) !=
        CUDNN_STATUS_SUCCESS) {
      continue;
    }
    if (need <= workspace_limit) found.push_back({result.algo, math, need});
  }
  return found;
}

/// What the time depends on beside the device and the library.
std::string key_of(const OpSite& site, const ConvTensors& tensors, const char* direction) {
  const Attributes& attributes = site.node.attributes;
  return join(direction, "; x ", tensor_text(tensors.x), "; filter ", filter_text(tensors.filter),
              "; y ", tensor_text(tensors.y), "; stride ", attributes.integer("stride"), " pad ",
              attributes.integer("pad"), " groups ", groups_of(attributes),
              site.context.tf32() ? "; tensor cores" : "; fma");
}

/// The best of several runs of each, in milliseconds; nothing where the device lacks the memory.
template <class Calls>
class Measurement {
 public:
  using Algorithm = typename Calls::Algorithm;

  Measurement(const OpSite& site, const ConvTensors& tensors, std::size_t workspace)
      : context_(site.context),
        tensors_(tensors),
        x_(bytes_of(tensors.x), "a convolution's input"),
        filter_(bytes_of(tensors.filter), "a convolution's filters"),
        y_(bytes_of(tensors.y), "a convolution's output"),
        workspace_(workspace, "a convolution's workspace"),
        begin_(make<cudaEvent_t, cudaEventDestroy>("cudaEventCreateWithFlags",
                                                   cudaEventCreateWithFlags, 0U)),
        end_(make<cudaEvent_t, cudaEventDestroy>("cudaEventCreateWithFlags",
                                                 cudaEventCreateWithFlags, 0U)) {}

  float best(const Convolution& convolution, const Candidate<Algorithm>& candidate) const {
    set_math(convolution, candidate.math);
    run(convolution, candidate);  // the first one loads its kernels
    float least = 0;
    for (int i = 0; i < measured_runs; ++i) {
      check(cudaEventRecord(begin_.get(), context_.compute()), "cudaEventRecord");
      run(convolution, candidate);
      check(cudaEventRecord(end_.get(), context_.compute()), "cudaEventRecord");
      check(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
      float took = 0;
      check(cudaEventElapsedTime(&took, begin_.get(), end_.get()), "cudaEventElapsedTime");
      least = i == 0 ? took : std::min(least, took);
    }
    return least;
  }

 private:
  void run(const Convolution& convolution, const Candidate<Algorithm>& candidate) const {
    check(
        Calls::run(context_.cudnn(), tensors_, convolution.get(), candidate.algorithm,
                   {x_.data(), filter_.data(), y_.data(), workspace_.data()}, candidate.workspace),
        "a convolution's measurement");
  }

  const Context& context_;
  ConvTensors tensors_;
  DeviceMemory x_, filter_, y_, workspace_;
  Event begin_, end_;
};

template <class Calls>
std::size_t fastest(const OpSite& site, const ConvTensors& tensors, const Convolution& convolution,
                    const std::vector<Candidate<typename Calls::Algorithm>>& found,
                    const std::string& key) {
  const std::size_t count = std::min(found.size(), most_measured);
  std::size_t workspace = 0;
  for (std::size_t i = 0; i < count; ++i) workspace = std::max(workspace, found[i].workspace);
  std::optional<Measurement<Calls>> measurement;
  try {
    measurement.emplace(site, tensors, workspace);
  } catch (const Error&) {
    return 0;  // the session will say what the network needs, and what the device has
  }
  std::size_t best = 0;
  float least = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float took = measurement->best(convolution, found[i]);
    if (i > 0 && took >= least) continue;
    best = i;
    least = took;
  }
  site.algorithms->add(key, {.algorithm = static_cast<int>(found[best].algorithm),
                             .arithmetic = static_cast<int>(found[best].math),
                             .milliseconds = least});
  return best;
}

/// What was kept is only taken where cuDNN still offers it: that it keeps our promises is not in
/// the file.
template <class Algorithm>
std::optional<std::size_t> kept(const OpSite& site, const std::string& key,
                                const std::vector<Candidate<Algorithm>>& found) {
  const auto choice = site.algorithms->find(key);
  for (std::size_t i = 0; choice && i < found.size(); ++i) {
    if (static_cast<int>(found[i].algorithm) == choice->algorithm &&
        static_cast<int>(found[i].math) == choice->arithmetic) {
      return i;
    }
  }
  return std::nullopt;
}

template <class Calls>
ConvDirection<typename Calls::Algorithm> choose(const OpSite& site, const ConvTensors& tensors) {
  ConvDirection<typename Calls::Algorithm> direction{make_convolution(site)};
  const auto found = candidates<Calls>(site, tensors, direction.convolution);
  if (found.empty()) {
    throw Error(join("cuDNN has no deterministic ", Calls::what, " for ", site.node.name));
  }
  std::size_t choice = 0;
  const bool chooses = site.communicator == nullptr || site.communicator->rank() == 0;
  if (chooses && found.size() > 1 && site.algorithms != nullptr && site.algorithms->kept()) {
    const std::string key = key_of(site, tensors, Calls::what);
    const auto before = kept(site, key, found);
    choice = before ? *before : fastest<Calls>(site, tensors, direction.convolution, found, key);
  }
  if (site.communicator != nullptr) {
    double common = static_cast<double>(choice);  // 0 of every other rank
    site.communicator->sum({&common, 1});
    choice = std::min(static_cast<std::size_t>(common), found.size() - 1);
  }
  set_math(direction.convolution, found[choice].math);
  direction.algorithm = found[choice].algorithm;
  direction.workspace = found[choice].workspace;
  return direction;
}

}  // namespace

ConvChoice choose_convolution(const OpSite& site, const ConvTensors& tensors) {
  return {choose<ForwardCalls>(site, tensors), choose<DataCalls>(site, tensors),
          choose<FilterCalls>(site, tensors)};
}

}  // namespace feedrate::cuda
