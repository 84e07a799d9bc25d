#include "formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <new>

#include "formats/error.h"

namespace feedrate {
namespace {

constexpr std::size_t block_bytes = std::size_t{128} << 10;
constexpr std::size_t most_at_once = std::size_t{16} << 20;  // well within zlib's 32-bit counts
constexpr int gzip_window = 15 + 16;  // zlib: the largest window, with gzip's header and trailer

class GunzipStream final : public ByteStream {
 public:
  GunzipStream(std::unique_ptr<ByteStream> source, std::string place)
      : source_(std::move(source)), place_(std::move(place)), buffer_(block_bytes) {
    if (inflateInit2(&z_, gzip_window) != Z_OK) throw std::bad_alloc();
  }
  ~GunzipStream() override { inflateEnd(&z_); }

 private:
  // What was decompressed before a fault is handed out first, so that the reader above knows where
  // in its own terms the fault is; the next call meets the fault again.
  Bytes fetch() override {
    z_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    z_.avail_out = static_cast<uInt>(buffer_.size());
    const auto filled = [&] { return buffer_.size() - z_.avail_out; };
    while (!ended_ && z_.avail_out != 0) {
      if (z_.avail_in == 0 && !refill()) {
        if (filled() != 0) break;
        fail(place_, "the gzip data is cut off after ", taken_,
             " compressed bytes; is the download complete?");
      }
      const int code = inflate(&z_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        end_member();
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        if (filled() != 0) break;
        fail(place_, "the gzip data is damaged at compressed byte ", taken_ - z_.avail_in, ": ",
             z_.msg != nullptr ? z_.msg : "no reason given");
      }
    }
    return Bytes(buffer_).first(filled());
  }

  bool refill() {
    const Bytes block = source_->next(most_at_once);
    // zlib's interface is not const-correct; it only reads.
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(block.data()));
    z_.avail_in = static_cast<uInt>(block.size());
    taken_ += block.size();
    return !block.empty();
  }

  // Another member may follow; gzip(1) also allows zeros that pad to a tape's block.
  void end_member() {
    bool padding = false;
    while (z_.avail_in != 0 || refill()) {
      if (*z_.next_in == 0) {
        padding = true;
        ++z_.next_in;
        --z_.avail_in;
      } else if (!padding && *z_.next_in == 0x1f) {
        inflateReset(&z_);
        return;
      } else {
        fail(place_, "the gzip data ends at compressed byte ", taken_ - z_.avail_in,
             " but the file goes on with something else");
      }
    }
    ended_ = true;
  }

  std::unique_ptr<ByteStream> source_;
  std::string place_;
  Buffer buffer_;
  z_stream z_{};
  std::uint64_t taken_ = 0;  // compressed bytes taken from the source
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> open_gunzip(std::unique_ptr<ByteStream> source, std::string place) {
  return std::make_unique<GunzipStream>(std::move(source), std::move(place));
}

struct GzipFile::State {
  explicit State(const std::filesystem::path& path) : file(path), buffer(block_bytes) {
    constexpr int memory_level = 8;  // zlib's own default
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~State() { deflateEnd(&z); }

  // Compresses what is in z.next_in; with Z_FINISH to the very end.
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

}  // namespace feedrate
