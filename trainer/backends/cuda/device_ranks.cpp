#include "trainer/backends/cuda/device_ranks.cuh"

#include <array>
#include <cstring>
#include <exception>

#include "trainer/backends/cuda/nccl.cuh"

namespace feedrate::trainer::cuda {
namespace {

// Large enough that a message's latency is nothing beside its way, small enough that the last one,
// which nothing hides, is short.
constexpr std::size_t bucket_floats = std::size_t{1} << 22;

Event make_event() {
  return make<cudaEvent_t, cudaEventDestroy>("cudaEventCreateWithFlags", cudaEventCreateWithFlags,
                                             static_cast<unsigned>(cudaEventDisableTiming));
}

// The first rank's, by the way that the processes have to each other already.
NcclId common_id(Communicator& hosts) {
  NcclId id{};
  if (hosts.rank() == 0) check_nccl(nccl().get_unique_id(&id), "ncclGetUniqueId");
  std::array<double, sizeof(id.bytes)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(id.bytes[i]);
  hosts.sum(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    id.bytes[i] = static_cast<char>(static_cast<unsigned char>(bytes[i]));
  }
  return id;
}

}  // namespace

DeviceRanks::DeviceRanks(Communicator& hosts, const Context& context, const Plan& plan,
                         const FlatParameters& flat)
    : context_(context),
      stream_(make_stream()),
      finished_(make_event()),
      losses_(sizeof(DeviceMetrics), "metrics") {
  place_buckets(plan, flat);
  for (std::size_t i = 0; i <= buckets_.size(); ++i) computed_.push_back(make_event());
  check_nccl(nccl().comm_init_rank(&all_, static_cast<int>(hosts.ranks()), common_id(hosts),
                                   static_cast<int>(hosts.rank())),
             "ncclCommInitRank");
}

DeviceRanks::~DeviceRanks() {
  // Where something failed, the others may never come to what this one would wait for.
  if (std::uncaught_exceptions() > 0) {
    nccl().comm_abort(all_);
  } else {
    nccl().comm_destroy(all_);
  }
}

void DeviceRanks::place_buckets(const Plan& plan, const FlatParameters& flat) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  std::size_t end = flat.floats();
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].parameters.empty()) continue;
    float* gradients = flat.parameter(nodes[i].parameters.front()).gradient;
    const auto begin = static_cast<std::size_t>(gradients - flat.gradients());
    if (begin != 0 && end - begin < bucket_floats) continue;
    buckets_.push_back({i, gradients, end - begin});
    end = begin;
  }
}

cudaStream_t DeviceRanks::stream_after_compute() {
  const cudaEvent_t computed = computed_.at(sums_++).get();
  check(cudaEventRecord(computed, context_.compute()), "cudaEventRecord");
  check(cudaStreamWaitEvent(stream_.get(), computed, 0), "cudaStreamWaitEvent");
  return stream_.get();
}

void DeviceRanks::share_loss(const DeviceMetrics* own) {
  sums_ = 0;
  auto* to = reinterpret_cast<DeviceMetrics*>(losses_.data());
  check_nccl(nccl().all_reduce(&own->loss_sum, &to->loss_sum, 1, Nccl::float64, Nccl::add, all_,
                               stream_after_compute()),
             "ncclAllReduce");
}

void DeviceRanks::share_gradients(std::size_t node) {
  for (const Bucket& bucket : buckets_) {
    if (bucket.node != node) continue;
    check_nccl(nccl().all_reduce(bucket.gradients, bucket.gradients, bucket.count, Nccl::float32,
                                 Nccl::add, all_, stream_after_compute()),
               "ncclAllReduce");
  }
}

void DeviceRanks::finish() {
  check(cudaEventRecord(finished_.get(), stream_.get()), "cudaEventRecord");
  check(cudaStreamWaitEvent(context_.compute(), finished_.get(), 0), "cudaStreamWaitEvent");
}

const DeviceMetrics* DeviceRanks::losses() const {
  return reinterpret_cast<const DeviceMetrics*>(losses_.data());
}

}  // namespace feedrate::trainer::cuda
