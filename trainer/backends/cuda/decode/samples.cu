// Packed bytes → planes of samples. A warp takes a run of MCUs: its blocks follow one another
// without an index, so it unpacks them in turn, all 64 coefficients of a block at once, and
// transforms those of an MCU together, eight threads a block.

#include "formats/codecs/packed/packed_blocks.h"
#include "formats/codecs/packed/packed_head.h"
#include "trainer/backends/cuda/decode/jpeg_maths.cuh"
#include "trainer/backends/cuda/decode/launch.cuh"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

constexpr unsigned lanes = 32;
constexpr unsigned warps = 4;  // of a block of threads
constexpr unsigned full_warp = 0xffffffffU;
constexpr unsigned side = 8;
constexpr unsigned run_mcus = static_cast<unsigned>(packed_run);
constexpr unsigned together = lanes / side;  // blocks that a warp transforms at a time

// The coefficients of a block, row by row. Four blocks side by side begin in different banks.
struct alignas(16) Coefficients {
  std::int16_t values[64 + side];
};
struct alignas(16) Row {
  EightCoefficients row;
};

struct Places {
  std::uint8_t natural[64];  // of each coefficient of the zigzag
};
constexpr Places make_places() {
  Places places{};
  for (unsigned i = 0; i < 64; ++i) places.natural[i] = zigzag[i];
  return places;
}
__device__ constexpr Places places = make_places();

// Bit z of the zigzag's first half: the coefficient is in the block's first row.
constexpr unsigned first_row_mask() {
  unsigned mask = 0;
  for (unsigned z = 0; z < lanes; ++z) mask |= (zigzag[z] < side ? 1U : 0U) << z;
  return mask;
}
static_assert(zigzag[lanes] >= side && zigzag[28] == 7, "the second half has none of that row");

__device__ unsigned byte_at(const std::byte* at) { return static_cast<unsigned>(*at); }

// What a lane knows of the two coefficients of every block that it unpacks: `lane` and lane + 32 of
// the zigzag.
struct Lane {
  unsigned number;
  unsigned place[2];
};

// A nonzero coefficient's place among those of its block, and its nibble.
struct Nibble {
  bool given;
  int value;
};
__device__ Nibble nibble_of(std::uint64_t which, unsigned z, const std::byte* nibbles) {
  if (z == 0 || (which >> (z - 1) & 1) == 0) return {false, 0};
  const auto index = static_cast<unsigned>(__popcll(which & ((std::uint64_t{1} << (z - 1)) - 1)));
  const int value = static_cast<int>(byte_at(nibbles + index / 2) >> (4 * (index % 2)) & 15);
  return {true, value - (value & 8) * 2};
}

__device__ int follower(const std::byte* follow, unsigned index, unsigned count, bool wide) {
  const unsigned low = byte_at(follow + index);
  if (!wide) return static_cast<std::int8_t>(low);
  return static_cast<std::int16_t>(low | byte_at(follow + count + index) << 8);
}

__device__ int mean_of(const BlockHead& head, const std::byte* at) {
  if (head.mean_bytes() == 0) return 0;
  const unsigned low = byte_at(at);
  if (head.mean_bytes() == 1) return static_cast<std::int8_t>(low);
  return static_cast<std::int16_t>(low | byte_at(at + 1) << 8);
}

// Unpacks the block at `at`, multiplied by `table`. Returns its end, or null where the bytes up to
// `end` are no block. `flat`: all rows but the first are zeros. The whole warp calls it and agrees
// on all but `lane`.
__device__ const std::byte* unpack(const std::byte* at, const std::byte* end, const Lane& lane,
                                   const std::uint16_t* table, std::int16_t* block, bool& flat) {
  const auto left = [&] { return static_cast<std::uint64_t>(end - at); };
  if (left() == 0) return nullptr;
  const BlockHead head(*at++);
  if (!head.sound() || left() < head.mean_bytes() + head.which_bytes()) return nullptr;
  const int mean = mean_of(head, at);
  at += head.mean_bytes();
  std::uint64_t which = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if (i < head.which_bytes()) which |= std::uint64_t{byte_at(at + i)} << (8 * i);
  }
  if (which >> 63 != 0) return nullptr;
  at += head.which_bytes();
  const unsigned nibbles = (static_cast<unsigned>(__popcll(which)) + 1) / 2;
  if (left() < nibbles) return nullptr;
  const Nibble one = nibble_of(which, lane.number, at);
  const Nibble two = nibble_of(which, lane.number + lanes, at);
  at += nibbles;
  const unsigned follow_one = __ballot_sync(full_warp, one.given && one.value == 0);
  const unsigned follow_two = __ballot_sync(full_warp, two.given && two.value == 0);
  const auto ones = static_cast<unsigned>(__popc(follow_one));
  const unsigned count = ones + static_cast<unsigned>(__popc(follow_two));
  const unsigned follow_bytes = head.wide() ? 2 * count : count;
  if (left() < follow_bytes) return nullptr;
  const unsigned before = (1U << lane.number) - 1;
  int values[] = {one.value, two.value};
  if (one.given && one.value == 0) {
    const auto index = static_cast<unsigned>(__popc(follow_one & before));
    values[0] = follower(at, index, count, head.wide());
  }
  if (two.given && two.value == 0) {
    const unsigned index = ones + static_cast<unsigned>(__popc(follow_two & before));
    values[1] = follower(at, index, count, head.wide());
  }
  const unsigned below_one = __ballot_sync(full_warp, values[0] != 0) & ~first_row_mask();
  const unsigned below_two = __ballot_sync(full_warp, values[1] != 0);
  flat = (below_one | below_two) == 0;
  if (lane.number == 0) values[0] = mean;
  for (unsigned i = 0; i < 2; ++i) {
    block[lane.place[i]] = wrapped(values[i] * table[lane.number + i * lanes]);
  }
  return at + follow_bytes;
}

// Transforms the blocks of an MCU and stores their samples. `flat` has a bit for each block.
__device__ void transform(const ImageJob& job, std::byte* scratch, Coefficients* mcu, unsigned flat,
                          unsigned mcu_row, unsigned mcu_column) {
  const unsigned lane = threadIdx.x % lanes;
  const unsigned line = lane % side;  // a column, then a row
  for (unsigned first = 0; first < job.block_count; first += together) {
    const unsigned b = first + lane / side;
    const bool active = b < job.block_count;
    if (active) {
      std::int16_t* values = mcu[b].values;
      EightCoefficients column;
      for (unsigned i = 0; i < side; ++i) column.values[i] = values[i * side + line];
      column = (flat >> b & 1) != 0 ? islow_flat_column(column.values[0]) : islow_column(column);
      for (unsigned i = 0; i < side; ++i) values[i * side + line] = column.values[i];
    }
    __syncwarp();
    if (active) {
      const Row row = reinterpret_cast<const Row*>(mcu[b].values)[line];
      const BlockPlace place = job.blocks[b];
      const PackedComponent& own = job.image.component[place.component];
      const Plane& plane = job.planes[place.component];
      const std::uint64_t y = (std::uint64_t{mcu_row} * own.down + place.y) * side + line;
      const unsigned x = (mcu_column * own.across + place.x) * side;
      *reinterpret_cast<std::uint64_t*>(scratch + plane.at + y * plane.stride + x) =
          islow_row(row.row);
    }
  }
}

__global__ void samples_kernel(JobRange range, DecodeMemory memory) {
  __shared__ Coefficients coefficients[warps][max_mcu_blocks];
  __shared__ std::uint16_t tables[max_jpeg_components][64];
  const unsigned number = range.first + blockIdx.y;
  const ImageJob& job = range.jobs[number];
  const PackedPart& image = job.image;
  if (!job.packed) return;
  for (unsigned i = threadIdx.x; i < image.components * 64U; i += blockDim.x) {
    tables[i / 64][i % 64] = image.component[i / 64].table[i % 64];
  }
  __syncthreads();
  const unsigned warp = threadIdx.x / lanes;
  const unsigned run = blockIdx.x * warps + warp;
  const unsigned runs = image.rows * image.row_runs;
  if (run >= runs) return;
  const unsigned number_in_warp = threadIdx.x % lanes;
  const Lane lane{number_in_warp,
                  {places.natural[number_in_warp], places.natural[number_in_warp + lanes]}};

  const std::byte* packed = memory.uploaded + job.packed_at;
  const auto* begins = reinterpret_cast<const std::uint32_t*>(packed);
  const std::byte* data = packed + (std::uint64_t{runs} + 1) * sizeof(std::uint32_t);
  const std::byte* at = data + begins[run];
  const std::byte* end = data + begins[run + 1];
  const unsigned row = run / image.row_runs;
  const unsigned first = (image.first_run + run % image.row_runs) * run_mcus;
  const unsigned behind = first + run_mcus < image.across ? first + run_mcus : image.across;
  Coefficients* const mcu = coefficients[warp];
  for (unsigned column = first; column < behind && at != nullptr; ++column) {
    unsigned flat = 0;
    for (unsigned b = 0; b < job.block_count && at != nullptr; ++b) {
      bool is_flat = false;
      at = unpack(at, end, lane, tables[job.blocks[b].component], mcu[b].values, is_flat);
      flat |= (is_flat ? 1U : 0U) << b;
    }
    __syncwarp();
    // Unsigned: columns in front of the wanted ones are far behind them.
    const unsigned wanted = column - image.first_column;
    if (at != nullptr && wanted < image.columns) {
      transform(job, memory.scratch, mcu, flat, row, wanted);
    }
    __syncwarp();
  }
  if (at != end && number_in_warp == 0) memory.faults[number] = 1;
}

}  // namespace

void unpack_samples(cudaStream_t stream, const JobRange& range, const DecodeMemory& memory,
                    unsigned max_runs) {
  launch_decode("samples_kernel", samples_kernel, stream,
                dim3((max_runs + warps - 1) / warps, range.count), warps * lanes, range, memory);
}

}  // namespace feedrate::trainer::cuda
