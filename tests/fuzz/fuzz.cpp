#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "formats/io/file.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

namespace fs = std::filesystem;

[[noreturn]] void failed(const char* call) {
  std::perror(call);
  std::exit(2);
}

// Readable memory followed by an unreadable page.
struct Fence {
  std::byte* start = nullptr;
  std::size_t size = 0;

  void grow(std::size_t wanted) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (start != nullptr) ::munmap(start, size + page);
    size = (wanted + page - 1) / page * page;
    void* memory =
        ::mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) failed("mmap");
    start = static_cast<std::byte*>(memory);
    if (::mprotect(start + size, page, PROT_NONE) != 0) failed("mprotect");
  }
};

struct OwnDirectory {
  OwnDirectory() {
    const fs::path memory = "/dev/shm";
    std::string name =
        ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "feedrate-fuzz-XXXXXX")
            .string();
    if (::mkdtemp(name.data()) == nullptr) failed("mkdtemp");
    path = name;
  }
  ~OwnDirectory() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

}  // namespace

void broken(std::string_view invariant) {
  std::fprintf(stderr, "fuzz: does not hold: %.*s\n", static_cast<int>(invariant.size()),
               invariant.data());
  std::abort();
}

Bytes fenced(const std::uint8_t* data, std::size_t size) {
  static Fence fence;
  if (size > fence.size || fence.start == nullptr) fence.grow(size + 1);
  std::byte* at = fence.start + fence.size - size;
  if (size != 0) std::memcpy(at, data, size);
  return {at, size};
}

const fs::path& directory() {
  static const OwnDirectory own;
  return own.path;
}

fs::path file_of(Bytes bytes, std::string_view name) {
  fs::path path = directory() / name;
  // A new file each time: a file that a parser still maps must not shrink.
  ::unlink(path.c_str());
  OutputFile file(path);
  file.write(bytes);
  file.close();
  return path;
}

}  // namespace feedrate::fuzz
