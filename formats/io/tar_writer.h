#pragma once
// Writes a tar that every tool reads and that is reproducible: ustar with one fixed time, owner 0,
// mode 0444; PAX records only for what ustar cannot express (long names, huge sizes).

#include <cstdint>
#include <functional>
#include <string_view>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// One thread. Throws the sink's Errors, and an Error for a name that no tar can hold.
class TarWriter {
 public:
  /// Writes to anything with write(Bytes): an OutputFile, a GzipFile. The sink must outlive this
  /// writer, which does not close it. `position` bytes of the archive exist already.
  template <class Sink>
  explicit TarWriter(Sink& sink, std::uint64_t position = 0)
      : write_([&sink](Bytes bytes) { sink.write(bytes); }), position_(position) {}

  /// Adds a regular file. `name` is relative, with slashes. Throws Error for an empty name and for
  /// one with a zero byte.
  void add(std::string_view name, Bytes content);
  /// Adds a file in parts: its header now, then exactly `size` bytes by write().
  void begin(std::string_view name, std::uint64_t size);
  void write(Bytes piece);

  /// Bytes written; once an entry is complete, the offset of the next header.
  std::uint64_t position() const { return position_; }
  /// Writes the end marker, padded to 10,240 bytes as tar(1) does.
  void finish();

 private:
  void put(Bytes bytes);
  void put_zeros(std::uint64_t count);
  void put_header(std::string_view prefix, std::string_view name, std::uint64_t size, char type);
  void put_pax(std::string_view records);

  std::function<void(Bytes)> write_;
  std::uint64_t position_ = 0;
  std::uint64_t left_ = 0;  // bytes that the open entry still lacks
};

}  // namespace feedrate::formats
