#pragma once
// A fence between the members of an object. AddressSanitizer watches the ends of an object, but not
// those of an array inside it; in a build with that sanitizer, an access to a fence ends the program.
// In any other build a fence is eight unused bytes.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FEEDRATE_POISON
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FEEDRATE_POISON
#endif
#endif

#ifdef FEEDRATE_POISON
extern "C" {  // as <sanitizer/asan_interface.h> declares them
void __asan_poison_memory_region(void const volatile* at, std::size_t size);
void __asan_unpoison_memory_region(void const volatile* at, std::size_t size);
}
#endif

namespace feedrate::formats {

class Poisoned {
 public:
  Poisoned() noexcept {
#ifdef FEEDRATE_POISON
    __asan_poison_memory_region(bytes_, sizeof bytes_);
#endif
  }
  ~Poisoned() {
#ifdef FEEDRATE_POISON
    __asan_unpoison_memory_region(bytes_, sizeof bytes_);
#endif
  }
  Poisoned(const Poisoned&) = delete;
  Poisoned& operator=(const Poisoned&) = delete;

 private:
  // The sanitizer poisons whole words of eight bytes.
  alignas(8) [[maybe_unused]] std::byte bytes_[8];
};

}  // namespace feedrate::formats
