#include "formats/io/gzip.h"

#include <isa-l/igzip_lib.h>
#include <zlib.h>

#include <algorithm>
#include <exception>
#include <new>

#include "formats/base/checksum.h"
#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t inflate_block_bytes = std::size_t{128} << 10;
constexpr std::size_t max_at_once = std::size_t{16} << 20;  // well within zlib's 32-bit counts
constexpr int gzip_window = 15 + 16;  // zlib: the largest window, with gzip's header and trailer

std::string_view inflate_fault(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block";
    case ISAL_INVALID_SYMBOL:
      return "invalid symbol";
    case ISAL_INVALID_LOOKBACK:
      return "a reference to before the start";
    case ISAL_INCORRECT_CHECKSUM:
      return "wrong checksum or length";
    default:
      return "no reason given";
  }
}

// Inflates with ISA-L, which needs two thirds of zlib's time. Headers are parsed here, because
// ISA-L reports a wrong header checksum when a header arrives in several blocks.
class GunzipStream final : public ByteStream {
 public:
  enum class Form : std::uint8_t { gzip, zlib };

  GunzipStream(std::unique_ptr<ByteStream> source, std::string place, Form form)
      : source_(std::move(source)),
        place_(std::move(place)),
        buffer_(inflate_block_bytes),
        form_(form) {
    isal_inflate_init(&state_);
    state_.crc_flag = form == Form::gzip ? ISAL_GZIP_NO_HDR_VER : ISAL_ZLIB_NO_HDR_VER;
  }

 private:
  // Bytes decompressed before a fault are returned first, so that the reader knows where the fault
  // is in the decompressed data; the next call throws.
  Bytes fetch() override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(buffer_.data());
    state_.avail_out = static_cast<std::uint32_t>(buffer_.size());
    try {
      while (!ended_ && !fault_ && state_.avail_out != 0) inflate_some();
    } catch (const Error&) {
      fault_ = std::current_exception();
    }
    const std::size_t filled = buffer_.size() - state_.avail_out;
    if (filled == 0 && fault_) std::rethrow_exception(fault_);
    return Bytes(buffer_).first(filled);
  }

  void inflate_some() {
    if (at_header_ && form_ == Form::gzip) read_header();
    if (at_header_ && form_ == Form::zlib) read_zlib_header();
    at_header_ = false;
    const bool more = state_.avail_in != 0 || refill();
    const std::uint32_t space = state_.avail_out;
    const int code = isal_inflate(&state_);
    clear_upper_halves();
    if (code != ISAL_DECOMP_OK) fail_damaged(inflate_fault(code));
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      end_member();
    } else if (!more && state_.avail_out == space) {  // the state holds no more output either
      fail_cut_off();
    }
  }

  // RFC 1950, 2.2: method and window │ level, and what makes a multiple of 31 of both
  void read_zlib_header() {
    const unsigned method = header_byte(), flags = header_byte();
    constexpr unsigned needs_dictionary = 32;
    if ((method & 15) != 8 || (method << 8 | flags) % 31 != 0 || (flags & needs_dictionary) != 0) {
      fail_damaged("invalid zlib header");
    }
  }

  // RFC 1952, 2.3: 1f 8b 08 flags │ time, 2 more │ extra field │ name │ comment │ checksum
  void read_header() {
    constexpr unsigned has_checksum = 2, has_extra = 4, has_name = 8, has_comment = 16;
    header_crc_ = crc32(0, nullptr, 0);
    if (header_byte() != 0x1f || header_byte() != 0x8b) fail_damaged("invalid gzip header");
    if (header_byte() != 8) fail_damaged("unknown compression method");
    const unsigned flags = header_byte();
    if (flags > (has_checksum | has_extra | has_name | has_comment | 1U)) {
      fail_damaged("unknown flags in the gzip header");
    }
    for (int i = 0; i < 6; ++i) header_byte();
    if ((flags & has_extra) != 0) {
      for (unsigned left = header_number(); left != 0; --left) header_byte();
    }
    for (const unsigned text : {has_name, has_comment}) {
      while ((flags & text) != 0 && header_byte() != 0) {
      }
    }
    const auto expected = static_cast<unsigned>(header_crc_ & 0xffff);
    if ((flags & has_checksum) != 0 && header_number() != expected) {
      fail_damaged("wrong checksum of the gzip header");
    }
  }

  unsigned header_byte() {
    if (state_.avail_in == 0 && !refill()) fail_cut_off();
    header_crc_ = crc32(header_crc_, state_.next_in, 1);
    --state_.avail_in;
    return *state_.next_in++;
  }
  unsigned header_number() {
    const unsigned low = header_byte();
    return low | header_byte() << 8;
  }

  bool refill() {
    const Bytes block = source_->next(max_at_once);
    // The library's interface is not const-correct; it only reads.
    state_.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(block.data()));
    state_.avail_in = static_cast<std::uint32_t>(block.size());
    taken_ += block.size();
    return !block.empty();
  }

  // Another member may follow; gzip(1) also allows zeros that pad to a tape block.
  void end_member() {
    bool padding = false;
    // ISA-L keeps a few bytes that follow a zlib stream.
    if (form_ == Form::zlib && state_.read_in_length != 0) fail_going_on();
    while (state_.avail_in != 0 || refill()) {
      if (*state_.next_in == 0) {
        padding = true;
        ++state_.next_in;
        --state_.avail_in;
      } else if (form_ == Form::gzip && !padding && *state_.next_in == 0x1f) {
        isal_inflate_reset(&state_);
        at_header_ = true;
        return;
      } else {
        fail_going_on();
      }
    }
    ended_ = true;
  }

  [[noreturn]] void fail_damaged(std::string_view why) const {
    fail(place_, "the ", name(), " data is damaged at compressed byte ", taken_ - state_.avail_in,
         ": ", why);
  }
  [[noreturn]] void fail_going_on() const {
    fail(place_, "the ", name(), " data ends at compressed byte ",
         taken_ - state_.avail_in - static_cast<std::uint64_t>(state_.read_in_length / 8),
         " but the file goes on with something else");
  }
  [[noreturn]] void fail_cut_off() const {
    fail(place_, "the ", name(), " data is cut off after ", taken_,
         " compressed bytes; is the download complete?");
  }

  std::string_view name() const { return form_ == Form::gzip ? "gzip" : "zlib"; }

  std::unique_ptr<ByteStream> source_;
  std::string place_;
  Buffer buffer_;
  inflate_state state_;
  Form form_;
  bool at_header_ = true;
  uLong header_crc_ = 0;
  std::uint64_t taken_ = 0;  // compressed bytes taken from the source
  bool ended_ = false;
  std::exception_ptr fault_;  // why it cannot go on
};

}  // namespace

std::unique_ptr<ByteStream> open_gunzip(std::unique_ptr<ByteStream> source, std::string place) {
  return std::make_unique<GunzipStream>(std::move(source), std::move(place),
                                        GunzipStream::Form::gzip);
}

std::unique_ptr<ByteStream> open_zlib(std::unique_ptr<ByteStream> source, std::string place) {
  return std::make_unique<GunzipStream>(std::move(source), std::move(place),
                                        GunzipStream::Form::zlib);
}

bool is_gzip(Bytes start) {
  return start.size() >= 2 && start[0] == std::byte{0x1f} && start[1] == std::byte{0x8b};
}

bool is_zlib(Bytes start) {
  return start.size() >= 2 && start[0] == std::byte{0x78} &&
         load_be<std::uint16_t>(start.data()) % 31 == 0;
}

struct GzipFile::State {
  explicit State(const std::filesystem::path& path) : file(path), buffer(inflate_block_bytes) {
    constexpr int memory_level = 8;  // zlib's own default
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~State() { deflateEnd(&z); }

  // Compresses z.next_in; with Z_FINISH, to the very end.
  void pump(int flush) {
    int code = Z_OK;
    do {
      z.next_out = reinterpret_cast<Bytef*>(buffer.data());
      z.avail_out = static_cast<uInt>(buffer.size());
      code = deflate(&z, flush);
      file.write(Bytes(buffer).first(buffer.size() - z.avail_out));
    } while (flush == Z_FINISH ? code != Z_STREAM_END : z.avail_in != 0);
  }

  OutputFile file;
  Buffer buffer;
  z_stream z{};
};

GzipFile::GzipFile(const std::filesystem::path& path) : state_(std::make_unique<State>(path)) {}
GzipFile::~GzipFile() = default;

void GzipFile::write(Bytes bytes) {
  while (!bytes.empty()) {
    const Bytes part = bytes.first(std::min(bytes.size(), std::size_t{1} << 30));  // uInt's range
    state_->z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
    state_->z.avail_in = static_cast<uInt>(part.size());
    state_->pump(Z_NO_FLUSH);
    bytes = bytes.subspan(part.size());
  }
}

void GzipFile::close() {
  state_->pump(Z_FINISH);
  state_->file.close();
}

}  // namespace feedrate::formats
