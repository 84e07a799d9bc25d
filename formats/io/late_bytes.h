#pragma once
// Files whose bytes are elsewhere and come when they are asked for: objects of a server. Such a file is
// mapped like any other. Its readers say which bytes of the map they need, and wait for these.

#include <cstdint>
#include <memory>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// A map of a file whose bytes come late. Any thread.
class LateBytes : public std::enable_shared_from_this<LateBytes> {
 public:
  virtual ~LateBytes() = default;
  LateBytes(const LateBytes&) = delete;
  LateBytes& operator=(const LateBytes&) = delete;

  /// Differs between two versions of the bytes, if anything that can be told without reading them does.
  virtual std::uint64_t version() const = 0;
  /// All addresses of the file. Only bytes that are held may be read.
  virtual Bytes map() const = 0;
  /// Starts to bring `part` of the map, and does not wait. A hint: it may be ignored.
  virtual void ask(Bytes part) noexcept = 0;
  /// Waits until `part` is here; it stays until it is released as often as it was held. Throws Error
  /// when it cannot be had.
  virtual void hold(Bytes part) = 0;
  virtual void release(Bytes part) noexcept = 0;

 protected:
  LateBytes() = default;
};

/// What is brought at once of bytes that are read in order: large enough that latency hardly counts.
inline constexpr std::size_t late_piece_bytes = std::size_t{8} << 20;

/// Which file of this system stands in for late bytes.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

/// While this lives, the file opens as these late bytes, and functions that take memory know their map.
class LateFile {
 public:
  LateFile(FileId file, std::shared_ptr<LateBytes> bytes);
  ~LateFile();
  LateFile(const LateFile&) = delete;
  LateFile& operator=(const LateFile&) = delete;

 private:
  FileId file_;
  std::shared_ptr<LateBytes> bytes_;
};

/// The late bytes that a file stands in for; null for every other file.
std::shared_ptr<LateBytes> late_bytes_of(FileId file);
/// Those whose map holds this memory; null for all other memory, which costs one load.
std::shared_ptr<LateBytes> late_bytes_at(Bytes memory);

/// Bytes that stay where they are while this lives.
class Held {
 public:
  Held() = default;
  ~Held() { reset(); }
  Held(Held&& other) noexcept;
  Held& operator=(Held&& other) noexcept;

  void reset();

 private:
  friend Held hold(Bytes part);
  std::shared_ptr<LateBytes> of_;  // null: of memory that is always there
  Bytes part_;
};

/// Waits until these bytes of a late map are here. Has no effect on other memory. Throws Error when
/// they cannot be had.
[[nodiscard]] Held hold(Bytes part);

/// Whether bytes that this thread wanted to hold could not be had since it last forgot that. Then a server
/// or a cache has failed, and the sample is not to blame for the error that its reader threw.
bool late_bytes_failed();
/// Before a sample is read: what failed before is not about it.
void forget_failed_late_bytes();

/// Reads a late map from front to back, in large pieces, of which the next comes while one is read.
/// Has no effect on other memory. One thread.
class HeldWindow {
 public:
  /// The caller holds `known`, a part of the map, while the window lives.
  explicit HeldWindow(Bytes map, Bytes known = {});

  /// Waits until `size` bytes from `at` on are here (what the map has of them). What lies before them
  /// is let go.
  void need(std::uint64_t at, std::uint64_t size);

 private:
  struct Piece {
    std::uint64_t number = 0;
    Held held;
  };

  Bytes piece(std::uint64_t number) const;

  Bytes map_;
  std::uint64_t known_begin_ = 0;
  std::uint64_t known_end_ = 0;
  std::shared_ptr<LateBytes> late_;
  std::vector<Piece> pieces_;
};

}  // namespace feedrate::formats
