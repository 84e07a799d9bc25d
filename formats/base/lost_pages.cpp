#include "formats/base/lost_pages.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/fork_mutex.h"
#include "formats/base/pages.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// Entries are reused but never freed: the handler walks their list without a lock.
struct Entry {
  std::atomic<std::uintptr_t> begin = 0;  // of the map; 0 for an unused entry
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> lost = false;  // a page was missing: the entry then keeps its file for good
  Entry* next = nullptr;
  Entry* next_free = nullptr;
  std::string file;
  std::size_t size = 0;
};

ForkMutex mutex;  // guards all changes except the handler's
std::atomic<Entry*> entries = nullptr;
Entry* free_entries = nullptr;
std::uintptr_t page_size = 0;  // kept here for the handler

std::atomic<const Entry*> lost_by_process = nullptr;
std::atomic<std::uint64_t> lost_so_far = 0;
thread_local const Entry* volatile lost_by_thread = nullptr;
struct sigaction before {};

// Only what a signal handler may do: loads, stores and a system call.
bool put_zeros(std::uintptr_t address) {
  for (Entry* entry = entries; entry != nullptr; entry = entry->next) {
    if (address < entry->begin || address >= entry->end) continue;
    const int kept = errno;
    void* page = reinterpret_cast<void*>(address / page_size * page_size);
    const bool put = mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                          0) != MAP_FAILED;
    errno = kept;
    if (!put) return false;
    entry->lost = true;
    lost_by_thread = entry;
    lost_by_process = entry;
    ++lost_so_far;  // after the entry, which whoever sees the number asks for
    return true;
  }
  return false;
}

void on_bus_error(int, siginfo_t* info, void*) {
  // Other codes mean that the machine has lost the memory, which zeros must not hide.
  const bool of_map = info->si_code == BUS_ADRERR;
  if (of_map && put_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr))) return;
  sigaction(SIGBUS, &before, nullptr);  // the instruction is retried with the handler before ours
}

void install_handler() {
  static const bool installed = [] {
    page_size = page_bytes();
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &before) == 0;
  }();
  (void)installed;
}

Entry* free_entry() {
  if (free_entries != nullptr) return std::exchange(free_entries, free_entries->next_free);
  auto* entry = new Entry;
  entry->next = entries;
  entries = entry;
  return entry;
}

std::string sentence(const Entry* lost) {
  if (lost == nullptr) return {};
  const std::lock_guard lock(mutex);
  std::error_code unknown;
  const std::uintmax_t now = fs::file_size(lost->file, unknown);
  if (!unknown && now < lost->size) {
    return join(lost->file, ": became shorter while it was being read: it had ", lost->size,
                " bytes and has ", now);
  }
  return join(lost->file, ": part of its ", lost->size,
              " bytes could not be read; the file was changed, or the disk failed");
}

}  // namespace

MapGuard::MapGuard(Bytes map, const fs::path& file) {
  if (map.empty()) return;
  const std::lock_guard lock(mutex);
  install_handler();
  Entry* entry = free_entry();
  entry->file = file.string();
  entry->size = map.size();
  entry->end = reinterpret_cast<std::uintptr_t>(map.data()) + map.size();
  entry->begin = reinterpret_cast<std::uintptr_t>(map.data());
  entry_ = entry;
}

MapGuard::~MapGuard() {
  if (entry_ == nullptr) return;
  auto* entry = static_cast<Entry*>(entry_);
  const std::lock_guard lock(mutex);
  entry->begin = 0;
  entry->end = 0;
  if (!entry->lost) entry->next_free = std::exchange(free_entries, entry);
}

MapGuard::MapGuard(MapGuard&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

MapGuard& MapGuard::operator=(MapGuard&& other) noexcept {
  std::swap(entry_, other.entry_);
  return *this;
}

std::string MapGuard::lost_pages() const {
  const auto* entry = static_cast<const Entry*>(entry_);
  return entry != nullptr && entry->lost ? sentence(entry) : std::string();
}

std::string lost_pages_of_thread() {
  if (lost_by_thread == nullptr) return {};
  const Entry* lost = lost_by_thread;
  lost_by_thread = nullptr;
  return sentence(lost);
}

std::uint64_t lost_pages_so_far() { return lost_so_far; }

std::string lost_pages_of_process(std::uint64_t earlier) {
  return lost_so_far == earlier ? std::string() : sentence(lost_by_process);
}

}  // namespace feedrate::formats
