#pragma once
// Writes a tar that every tool reads and that is the same bytes every time: ustar with one fixed
// time, owner 0, mode 0444; PAX records only for what ustar cannot say (long names, huge sizes).

#include <cstdint>
#include <functional>
#include <string_view>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// One thread. Errors are those of the sink, and names that no tar can hold.
class TarWriter {
 public:
  /// Into anything with write(Bytes): an OutputFile, a GzipFile. It must outlive this writer, and
  /// is not closed by it. `position` bytes of the archive are there already.
  template <class Sink>
  explicit TarWriter(Sink& sink, std::uint64_t position = 0)
      : write_([&sink](Bytes bytes) { sink.write(bytes); }), position_(position) {}

  /// A regular file. `name` is relative, with slashes. Throws Error for an empty name and one with
  /// a zero byte.
  void add(std::string_view name, Bytes content);
  /// The same in pieces: its header now, then exactly `size` bytes by write().
  void begin(std::string_view name, std::uint64_t size);
  void write(Bytes piece);

  /// Bytes written; where the next header will be, once all of an entry is there.
  std::uint64_t position() const { return position_; }
  /// The end marker, padded to 10,240 bytes as tar(1) does.
  void finish();

 private:
  void put(Bytes bytes);
  void put_zeros(std::uint64_t count);
  void put_header(std::string_view prefix, std::string_view name, std::uint64_t size, char type);
  void put_pax(std::string_view records);

  std::function<void(Bytes)> write_;
  std::uint64_t position_ = 0;
  std::uint64_t left_ = 0;  // bytes that the entry begun still wants
};

}  // namespace feedrate::formats
