#include "formats/io/late_bytes.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>

#include "formats/base/fork_mutex.h"

namespace feedrate::formats {
namespace {

class Register final : ForkGuard {
 public:
  Register() { add_to_forks(); }

  void add(FileId file, const std::shared_ptr<LateBytes>& bytes) {
    const std::unique_lock lock(mutex_);
    files_[file] = bytes;
    if (!bytes->map().empty()) maps_[bytes->map().data()] = bytes;
    count_.store(files_.size(), std::memory_order_release);
  }

  void remove(FileId file, const LateBytes& bytes) {
    const std::unique_lock lock(mutex_);
    files_.erase(file);
    maps_.erase(bytes.map().data());
    count_.store(files_.size(), std::memory_order_release);
  }

  std::shared_ptr<LateBytes> of(FileId file) const {
    if (empty()) return nullptr;
    const std::shared_lock lock(mutex_);
    const auto found = files_.find(file);
    return found == files_.end() ? nullptr : found->second.lock();
  }

  std::shared_ptr<LateBytes> at(const std::byte* memory) const {
    if (empty()) return nullptr;
    const std::shared_lock lock(mutex_);
    auto found = maps_.upper_bound(memory);
    if (found == maps_.begin()) return nullptr;
    std::shared_ptr<LateBytes> bytes = (--found)->second.lock();
    if (bytes == nullptr || memory >= found->first + bytes->map().size()) return nullptr;
    return bytes;
  }

  void before_fork() override { mutex_.lock(); }
  void after_fork(bool is_child) override {
    if (is_child) {
      new (&mutex_) std::shared_mutex;  // a child's thread is not the one that it is locked by
    } else {
      mutex_.unlock();
    }
  }

 private:
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

  mutable std::shared_mutex mutex_;
  std::map<FileId, std::weak_ptr<LateBytes>> files_;
  std::map<const std::byte*, std::weak_ptr<LateBytes>> maps_;
  std::atomic<std::size_t> count_{0};
};

// Never destroyed: threads may still read while the process ends.
Register& all_late_files() {
  static auto* const files = new Register;
  return *files;
}

thread_local bool failed = false;

// The one place where readers wait.
void hold_part(LateBytes& late, Bytes part) {
  try {
    late.hold(part);
  } catch (...) {
    failed = true;
    throw;
  }
}

}  // namespace

LateFile::LateFile(FileId file, std::shared_ptr<LateBytes> bytes)
    : file_(file), bytes_(std::move(bytes)) {
  all_late_files().add(file_, bytes_);
}

LateFile::~LateFile() { all_late_files().remove(file_, *bytes_); }

std::shared_ptr<LateBytes> late_bytes_of(FileId file) { return all_late_files().of(file); }
std::shared_ptr<LateBytes> late_bytes_at(Bytes memory) {
  return all_late_files().at(memory.data());
}

Held::Held(Held&& other) noexcept
    : of_(std::move(other.of_)), part_(std::exchange(other.part_, {})) {}

Held& Held::operator=(Held&& other) noexcept {
  std::swap(of_, other.of_);
  std::swap(part_, other.part_);
  return *this;
}

void Held::reset() {
  if (of_ != nullptr) of_->release(part_);
  of_.reset();
  part_ = {};
}

Held hold(Bytes part) {
  Held held;
  if (part.empty()) return held;
  std::shared_ptr<LateBytes> late = late_bytes_at(part);
  if (late == nullptr) return held;
  hold_part(*late, part);
  held.of_ = std::move(late);
  held.part_ = part;
  return held;
}

bool late_bytes_failed() { return failed; }
void forget_failed_late_bytes() { failed = false; }

HeldWindow::HeldWindow(Bytes map, Bytes known) : map_(map), late_(late_bytes_at(map)) {
  if (late_ == nullptr || known.empty()) return;
  known_begin_ = static_cast<std::uint64_t>(known.data() - map.data());
  known_end_ = known_begin_ + known.size();
}

Bytes HeldWindow::piece(std::uint64_t number) const {
  const std::uint64_t begin = std::min<std::uint64_t>(number * late_piece_bytes, map_.size());
  return map_.subspan(begin, std::min<std::uint64_t>(late_piece_bytes, map_.size() - begin));
}

void HeldWindow::need(std::uint64_t at, std::uint64_t size) {
  if (late_ == nullptr || size == 0 || at >= map_.size()) return;
  size = std::min(size, map_.size() - at);
  if (at >= known_begin_ && at + size <= known_end_) return;
  const std::uint64_t first = at / late_piece_bytes, last = (at + size - 1) / late_piece_bytes;
  std::erase_if(pieces_,
                [&](const Piece& each) { return each.number < first || each.number > last; });
  for (std::uint64_t number = first; number <= last; ++number) {
    if (std::ranges::find(pieces_, number, &Piece::number) != pieces_.end()) continue;
    late_->ask(piece(number));
    if (const Bytes next = piece(number + 1); !next.empty()) late_->ask(next);
    pieces_.push_back({number, formats::hold(piece(number))});
  }
}

}  // namespace feedrate::formats
