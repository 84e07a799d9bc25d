#include "converters/sources/sample_pipes.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/io/byte_stream.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t max_name_bytes = 4096;
constexpr std::uint64_t max_sent_bytes = std::uint64_t{1} << 30;

enum class Kind : std::uint32_t { end, encoded, pixels, given_up };

struct Header {
  Kind kind;
  std::int32_t label;
  std::uint32_t height, width, channels, name_bytes;
  std::uint64_t image_bytes;
};
static_assert(sizeof(Header) == 32);

class SamplePipes final : public SampleStream {
 public:
  explicit SamplePipes(PipedSamples samples) : samples_(std::move(samples)) {
    info_.size = samples_.samples;
    info_.codec = samples_.pixels ? &raw_codec : nullptr;
    info_.origin = samples_.origin;
    info_.classes = samples_.classes;
    info_.class_names.names = samples_.class_names;
    for (const fs::path& pipe : samples_.pipes) pipes_.push_back(open_any_stream(pipe));
  }

  const StreamInfo& info() const override { return info_; }
  bool seekable() const override { return info_.size != 0; }
  void seek(std::uint64_t index) override {
    if (asked_ && index != at_) {
      throw Error("samples come through pipes in one order: shuffle them where they are made");
    }
    at_ = index;
  }

  bool next(Sample& sample) override {
    if (!asked_) ask();
    ByteStream& pipe = *pipes_[turn_];
    Header header{};
    take(pipe, std::as_writable_bytes(std::span(&header, 1)));
    if (header.kind == Kind::end) return false;
    if (header.kind == Kind::given_up) throw Error("the program that makes the samples gave up");
    check(header);
    name_.resize(header.name_bytes);
    take(pipe, std::as_writable_bytes(std::span(name_)));
    image_.resize(header.image_bytes);
    take(pipe, image_);
    sample = {.bytes = image_, .codec = info_.codec, .label = header.label, .name = name_};
    if (samples_.pixels) sample.shape = {header.height, header.width, header.channels};
    ++at_;
    turn_ = (turn_ + 1) % pipes_.size();
    return true;
  }

 private:
  void ask() {
    OutputFile asks(samples_.asks);
    asks.write(std::as_bytes(std::span(&at_, 1)));
    asks.flush();
    asked_ = true;
  }

  // A sender that is gone cannot say whether more samples would have come, so those that did are
  // kept, and the conversion can go on.
  static void take(ByteStream& pipe, MutableBytes wanted) {
    while (!wanted.empty()) {
      const Bytes block = pipe.next(wanted.size());
      if (block.empty()) {
        request_stop();
        throw Stopped();
      }
      std::ranges::copy(block, wanted.begin());
      wanted = wanted.subspan(block.size());
    }
  }

  void check(const Header& header) const {
    const Kind expected = samples_.pixels ? Kind::pixels : Kind::encoded;
    const Shape shape{header.height, header.width, header.channels};
    const bool sized =
        !samples_.pixels || (shape.plausible() && shape.bytes() == header.image_bytes);
    if (header.kind != expected) {
      refuse("kind ", static_cast<std::uint32_t>(expected),
             static_cast<std::uint32_t>(header.kind));
    } else if (header.label < 0) {
      refuse("a label from 0", "", header.label);
    } else if (header.name_bytes > max_name_bytes) {
      refuse("a name of at most ", max_name_bytes, header.name_bytes);
    } else if (header.image_bytes > max_sent_bytes || !sized) {
      refuse("the bytes of an image", "", header.image_bytes);
    }
  }
  template <class Limit, class Found>
  [[noreturn]] void refuse(std::string_view what, const Limit& limit, const Found& found) const {
    throw Error(join("sample ", at_, ": expected ", what, limit, ", found ", found));
  }

  PipedSamples samples_;
  StreamInfo info_;
  std::vector<std::unique_ptr<ByteStream>> pipes_;
  std::uint64_t at_ = 0;  // index of the next sample
  std::size_t turn_ = 0;  // the pipe that it comes through
  bool asked_ = false;
  std::string name_;
  Buffer image_;
};

}  // namespace

PipedSamples read_piped_samples(const fs::path& file) {
  try {
    const auto json = nlohmann::json::parse(read_text(file));
    PipedSamples samples;
    json.at("split").get_to(samples.split);
    json.at("origin").get_to(samples.origin);
    json.at("identity").get_to(samples.identity);
    json.at("samples").get_to(samples.samples);
    json.at("pixels").get_to(samples.pixels);
    json.at("classes").get_to(samples.classes);
    json.at("class_names").get_to(samples.class_names);
    samples.asks = json.at("asks").get<std::string>();
    for (const auto& pipe : json.at("pipes")) samples.pipes.emplace_back(pipe.get<std::string>());
    if (samples.pipes.empty()) fail(file, "names no pipes");
    return samples;
  } catch (const nlohmann::json::exception& error) {
    fail(file, "does not describe samples that a program sends: ", error.what());
  }
}

std::unique_ptr<SampleStream> open_sample_pipes(PipedSamples samples) {
  return std::make_unique<SamplePipes>(std::move(samples));
}

}  // namespace feedrate::converters
