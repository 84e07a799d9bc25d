#pragma once
// What every function of feedrate.h does around its work: it turns exceptions into the thread's last
// error, and reads and writes structs of other versions. Any thread.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "formats/base/error.h"
#include "formats/dataset.h"
#include "tools/bindings/c/feedrate.h"

struct feedrate_dataset {
  std::shared_ptr<const feedrate::formats::Dataset> data;
  std::vector<const char*> class_names;  // of the dataset
  std::string path;                      // as people name it: a URL without its secrets
};

namespace feedrate::tools {

/// A fault with a status of its own.
class Failure : public formats::Error {
 public:
  Failure(feedrate_status status, const std::string& text) : Error(text), status_(status) {}
  feedrate_status status() const noexcept { return status_; }

 private:
  feedrate_status status_;
};

/// Makes the exception being handled this thread's last error.
feedrate_status remember_error() noexcept;

/// Runs `work`, which returns a status or nothing.
template <class Work>
feedrate_status guarded(Work work) noexcept {
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return FEEDRATE_OK;
    } else {
      return work();
    }
  } catch (...) {
    return remember_error();
  }
}

/// Throws Failure when the caller gave no pointer.
void expect_pointer(const void* pointer, const char* name);
/// Throws Failure when a struct is smaller than it ever was.
void expect_size(std::size_t size, std::size_t first, const char* name);

/// The sizes of the structs in version 0.1: never change them.
template <class Struct>
inline constexpr std::size_t first_size = 0;
template <>
inline constexpr std::size_t first_size<feedrate_dataset_info> = 72;
template <>
inline constexpr std::size_t first_size<feedrate_sample_view> = 56;
template <>
inline constexpr std::size_t first_size<feedrate_loader_options> = 128;
template <>
inline constexpr std::size_t first_size<feedrate_remote_options> = 40;
template <>
inline constexpr std::size_t first_size<feedrate_loader_info> = 32;
template <>
inline constexpr std::size_t first_size<feedrate_batch_view> = 72;

/// Fills the part of `to` that its caller knows.
template <class Struct>
void give(Struct* to, Struct all) {
  static_assert(first_size<Struct> > 0 && first_size<Struct> <= sizeof(Struct));
  expect_pointer(to, "the struct to fill");
  expect_size(to->size, first_size<Struct>, "the struct to fill");
  all.size = to->size;
  std::memcpy(static_cast<void*>(to), &all, std::min(to->size, sizeof all));
}

}  // namespace feedrate::tools
