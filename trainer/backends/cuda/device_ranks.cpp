#include "trainer/backends/cuda/device_ranks.cuh"

#include <algorithm>
#include <exception>
#include <span>

#include "trainer/backends/cuda/nccl.cuh"

namespace feedrate::trainer::cuda {
namespace {

constexpr std::size_t bucket_floats = std::size_t{1} << 22;

// The first rank makes it; the hosts' communicator carries it to the others. NCCL waits for ever for
// a rank that failed before it came so far, so all meet on the hosts first: there its end is seen.
NcclId common_id(Communicator& hosts) {
  NcclId id{};
  const Nccl& loaded = nccl();
  if (hosts.rank() == 0) check_nccl(loaded.get_unique_id(&id), "ncclGetUniqueId");
  hosts.broadcast(std::as_writable_bytes(std::span(id.bytes)));
  double ready = 1;
  hosts.sum({&ready, 1});
  return id;
}

}  // namespace

DeviceRanks::DeviceRanks(Communicator& hosts, const Context& context, const Plan& plan,
                         const FlatParameters& flat)
    : hosts_(hosts),
      context_(context),
      stream_(make_stream()),
      finished_(make_event(cudaEventDisableTiming)),
      losses_(sizeof(DeviceMetrics), "metrics"),
      flat_(flat),
      buckets_(gradient_buckets(plan.graph, flat.floats(), bucket_floats, [&](std::size_t number) {
        return static_cast<std::size_t>(flat.parameter(number).gradient - flat.gradients());
      })) {
  for (std::size_t i = 0; i <= buckets_.size(); ++i) {
    computed_.push_back(make_event(cudaEventDisableTiming));
  }
  check_nccl(nccl().comm_init_rank(&all_, static_cast<int>(hosts.ranks()), common_id(hosts),
                                   static_cast<int>(hosts.rank())),
             "ncclCommInitRank");
  hosts_.when_lost([this] { give_up(); });
}

DeviceRanks::~DeviceRanks() {
  hosts_.when_lost({});
  // After a failure, destroy would wait for calls that the other ranks may never make.
  if (std::uncaught_exceptions() > 0) give_up();
  if (all_ != nullptr) nccl().comm_destroy(all_);
}

void DeviceRanks::give_up() {
  const std::lock_guard lock(mutex_);
  if (all_ != nullptr) nccl().comm_abort(all_);
  all_ = nullptr;
}

cudaStream_t DeviceRanks::stream_after_compute() {
  const cudaEvent_t computed = computed_.at(sums_++).get();
  check(cudaEventRecord(computed, context_.compute()), "cudaEventRecord");
  check(cudaStreamWaitEvent(stream_.get(), computed, 0), "cudaStreamWaitEvent");
  return stream_.get();
}

void DeviceRanks::sum(const void* from, void* to, std::size_t count, int type) {
  const cudaStream_t stream = stream_after_compute();
  const std::lock_guard lock(mutex_);
  if (all_ == nullptr) hosts_.expect_all_there();
  check_nccl(nccl().all_reduce(from, to, count, type, Nccl::add, all_, stream), "ncclAllReduce");
}

void DeviceRanks::share_loss(const DeviceMetrics* own) {
  sums_ = 0;
  auto* to = losses_.as<DeviceMetrics>();
  sum(&own->loss_sum, &to->loss_sum, 1, Nccl::float64);
}

bool DeviceRanks::ends_bucket(std::size_t node) const {
  return std::ranges::any_of(buckets_, [node](const auto& bucket) { return bucket.node == node; });
}

void DeviceRanks::share_gradients(std::size_t node) {
  for (const GradientBucket& bucket : buckets_) {
    if (bucket.node != node) continue;
    flat_.widen(context_, bucket.begin, bucket.floats);
    float* gradients = flat_.gradients() + bucket.begin;
    sum(gradients, gradients, bucket.floats, Nccl::float32);
  }
}

void DeviceRanks::finish() {
  check(cudaEventRecord(finished_.get(), stream_.get()), "cudaEventRecord");
  check(cudaStreamWaitEvent(context_.compute(), finished_.get(), 0), "cudaStreamWaitEvent");
}

}  // namespace feedrate::trainer::cuda
