#include "tools/bindings/c/calls.h"

#include <new>

#include "formats/base/reason.h"
#include "loader/bad.h"

namespace feedrate::tools {
namespace {

struct LastError {
  std::string text, file;
  feedrate_error error{sizeof(feedrate_error), FEEDRATE_OK, "", nullptr, FEEDRATE_NO_SAMPLE, 0};

  feedrate_status set(feedrate_status status, const char* what) {
    text = what;
    error = {sizeof error, status, text.c_str(), nullptr, FEEDRATE_NO_SAMPLE, 0};
    return status;
  }
  feedrate_status set(const loader::SampleError& fault) {
    const loader::BadSample& bad = fault.sample();
    set(FEEDRATE_DATA, fault.what());
    file = formats::shown_path(bad.place.file);
    error.file = file.c_str();
    error.sample = bad.index;
    error.byte = bad.place.offset;
    return FEEDRATE_DATA;
  }
  feedrate_status out_of_memory() noexcept {
    error = {sizeof error, FEEDRATE_NO_MEMORY, "out of memory", nullptr, FEEDRATE_NO_SAMPLE, 0};
    return FEEDRATE_NO_MEMORY;
  }
};

thread_local LastError last;

}  // namespace

feedrate_status remember_error() noexcept {
  try {
    try {
      throw;
    } catch (const loader::SampleError& error) {
      return last.set(error);
    } catch (const Failure& error) {
      return last.set(error.status(), error.what());
    } catch (const formats::Error& error) {
      return last.set(FEEDRATE_DATA, error.what());
    } catch (const std::bad_alloc&) {
      return last.out_of_memory();
    } catch (const std::exception& error) {
      return last.set(FEEDRATE_FAILED, formats::reason_of(error).c_str());
    } catch (...) {
      return last.set(FEEDRATE_FAILED, "unknown exception");
    }
  } catch (...) {
    return last.out_of_memory();
  }
}

void expect_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Failure(FEEDRATE_MISUSED, formats::join(name, " is null"));
}

void expect_size(std::size_t size, std::size_t first, const char* name) {
  if (size >= first) return;
  throw Failure(FEEDRATE_MISUSED, formats::join(name, ": expected a size of at least ", first,
                                                ", found ", size, "; set it to sizeof"));
}

}  // namespace feedrate::tools

const feedrate_error* feedrate_last_error(void) { return &feedrate::tools::last.error; }

const char* feedrate_version(void) { return FEEDRATE_VERSION; }
