#include "tools/bindings/python/memory.hpp"

#include <mutex>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/fork_mutex.h"
#include "tools/bindings/python/native.hpp"

namespace feedrate::tools {

namespace nb = nanobind;

namespace {

formats::ForkMutex& memory_mutex = *new formats::ForkMutex;  // of all memory; held for moments

class Plain final : public loader::PixelMemory {
 public:
  std::byte* allocate(std::size_t bytes) override { return loader::plain_memory().allocate(bytes); }
  void release(std::byte* memory, std::size_t bytes) noexcept override {
    loader::plain_memory().release(memory, bytes);
  }
};

// Page-locked by functions of Python, such as those of CUDA's run-time in PyTorch.
class Pinned final : public loader::PixelMemory {
 public:
  Pinned(nb::object pin, nb::object unpin) : pin_(std::move(pin)), unpin_(std::move(unpin)) {}
  ~Pinned() override {
    const nb::gil_scoped_acquire gil;
    pin_.reset();
    unpin_.reset();
  }

 private:
  std::byte* allocate(std::size_t bytes) override {
    std::byte* memory = loader::plain_memory().allocate(bytes);
    const nb::gil_scoped_acquire gil;
    try {
      pin_(reinterpret_cast<std::uintptr_t>(memory), bytes);
    } catch (const nb::python_error& error) {
      loader::plain_memory().release(memory, bytes);
      throw formats::Error(formats::join("cannot pin ", bytes, " bytes: ", error.what()));
    }
    return memory;
  }
  void release(std::byte* memory, std::size_t bytes) noexcept override {
    {
      const nb::gil_scoped_acquire gil;
      // Batches may be freed while an exception leaves a frame, which must survive the call.
      const nb::error_scope raised;
      try {
        unpin_(reinterpret_cast<std::uintptr_t>(memory));
      } catch (nb::python_error& error) {
        error.discard_as_unraisable("unpinning the memory of batches");
      }
    }
    loader::plain_memory().release(memory, bytes);
  }

  nb::object pin_, unpin_;
};

std::unique_ptr<loader::PixelMemory> source_of(const nb::object& pin, const nb::object& unpin) {
  if (pin.is_none()) return std::make_unique<Plain>();
  return std::make_unique<Pinned>(pin, unpin);
}

}  // namespace

BatchMemory::~BatchMemory() { free(idle_, bytes_); }

void BatchMemory::keep(std::size_t blocks) {
  const std::lock_guard lock(memory_mutex);
  idle_.reserve(blocks);
  kept_ = blocks;
}

void BatchMemory::free() noexcept {
  std::vector<std::byte*> idle;
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(memory_mutex);
    kept_ = 0;
    bytes = bytes_;
    idle = std::exchange(idle_, {});
  }
  free(idle, bytes);
}

void BatchMemory::free(const std::vector<std::byte*>& blocks, std::size_t bytes) noexcept {
  for (std::byte* block : blocks) source_->release(block, bytes);
}

std::byte* BatchMemory::allocate(std::size_t bytes) {
  std::vector<std::byte*> misfits;
  std::size_t size_of_misfits = 0;
  {
    const std::lock_guard lock(memory_mutex);
    if (bytes != bytes_) {  // of another rank, whose batches are larger or smaller
      size_of_misfits = std::exchange(bytes_, bytes);
      misfits.swap(idle_);
      idle_.reserve(misfits.capacity());
    } else if (!idle_.empty()) {
      std::byte* const block = idle_.back();
      idle_.pop_back();
      return block;
    }
  }
  free(misfits, size_of_misfits);
  return source_->allocate(bytes);
}

void BatchMemory::release(std::byte* memory, std::size_t bytes) noexcept {
  {
    const std::lock_guard lock(memory_mutex);
    if (bytes == bytes_ && idle_.size() < kept_) {
      idle_.push_back(memory);
      return;
    }
  }
  source_->release(memory, bytes);
}

void add_memory(nb::module_& module) {
  nb::class_<MemoryOfLoader>(module, "Memory", "The memory of a loader's batches.")
      .def(
          "__init__",
          [](MemoryOfLoader* self, const nb::object& pin, const nb::object& unpin) {
            new (self) MemoryOfLoader{std::make_shared<BatchMemory>(source_of(pin, unpin))};
          },
          nb::arg("pin").none(), nb::arg("unpin").none(),
          "Plain if `pin` is None. Otherwise pin(address, bytes) is called for every piece of it, "
          "and "
          "unpin(address) before it is freed; what pin raises ends the loader.")
      .def(
          "free", [](const MemoryOfLoader& held) { held.memory->free(); },
          "Frees what nobody uses.");
}

}  // namespace feedrate::tools
