#pragma once
// Where batches for Python live.

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "loader/batch.h"

namespace feedrate::tools {

/// The memory of one loader's batches, which goes from one run to the next: fresh memory costs more than
/// the images that are written into it. Whatever it gave must be returned before it dies. Any thread.
class BatchMemory final : public loader::PixelMemory {
 public:
  /// Memory of `source`.
  explicit BatchMemory(std::unique_ptr<PixelMemory> source) : source_(std::move(source)) {}
  ~BatchMemory() override;

  /// For a run that starts: from now on, up to that many blocks that nobody uses are kept.
  void keep(std::size_t blocks);
  /// Frees what nobody uses, and keeps nothing that is returned, until the next run.
  void free() noexcept;

  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* memory, std::size_t bytes) noexcept override;

 private:
  void free(const std::vector<std::byte*>& blocks, std::size_t bytes) noexcept;

  const std::unique_ptr<PixelMemory> source_;
  // Under a lock that a child finds open: a loader without threads may go on there.
  std::size_t bytes_ = 0;  // of each idle block
  std::size_t kept_ = 0;
  std::vector<std::byte*> idle_;  // has room for `kept_`
};

/// What Python's Loader holds of it. Arrays share the memory itself, and may outlive all objects of Python.
struct MemoryOfLoader {
  std::shared_ptr<BatchMemory> memory;
};

}  // namespace feedrate::tools
