#include "tools/bindings/python/memory.hpp"

#include "formats/base/error.h"

namespace feedrate::tools {

namespace nb = nanobind;

namespace {

class Plain final : public BatchMemory {
 public:
  loader::PixelMemory& pixels() override { return loader::plain_memory(); }
};

// Page-locked by functions of Python, such as those of CUDA's run-time in PyTorch.
class Pinned final : public BatchMemory, loader::PixelMemory {
 public:
  Pinned(nb::object pin, nb::object unpin) : pin_(std::move(pin)), unpin_(std::move(unpin)) {}
  ~Pinned() override {
    const nb::gil_scoped_acquire gil;
    pin_.reset();
    unpin_.reset();
  }
  loader::PixelMemory& pixels() override { return *this; }

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

}  // namespace

std::shared_ptr<BatchMemory> memory_of(const nb::object& pin, const nb::object& unpin) {
  if (pin.is_none()) return std::make_shared<Plain>();
  return std::make_shared<Pinned>(pin, unpin);
}

}  // namespace feedrate::tools
