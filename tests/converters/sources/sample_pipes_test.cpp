#include "converters/sources/sample_pipes.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/base/stop.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

struct Sent {
  std::uint32_t kind = 1;
  std::int32_t label = 3;
  Shape shape = {};
  std::string name = "cat.jpg";
  std::string image = "image";
};

Buffer frame(const Sent& sent) {
  Buffer bytes;
  append_le(bytes, sent.kind);
  append_le(bytes, sent.label);
  append_le(bytes, sent.shape.height);
  append_le(bytes, sent.shape.width);
  append_le(bytes, sent.shape.channels);
  append_le(bytes, static_cast<std::uint32_t>(sent.name.size()));
  append_le(bytes, std::uint64_t{sent.image.size()});
  append(bytes, as_bytes(sent.name));
  append(bytes, as_bytes(sent.image));
  return bytes;
}

Buffer end() { return frame({.kind = 0, .name = "", .image = ""}); }

// Files in place of pipes.
class UnitSamplePipes : public ::testing::Test {
 protected:
  fs::path pipe(const std::string& name, const std::vector<Buffer>& frames) const {
    std::string text;
    for (const Buffer& one : frames) text += as_text(one);
    write_text(directory_ / name, text);
    return directory_ / name;
  }
  PipedSamples described(std::vector<fs::path> pipes) const {
    PipedSamples samples;
    samples.asks = directory_ / "asks";
    samples.pipes = std::move(pipes);
    return samples;
  }
  fs::path description(const std::string& text) const {
    write_text(directory_ / "description", text);
    return directory_ / "description";
  }

  TempDirectory directory_;
};

class HostileSamplePipes : public UnitSamplePipes {
 protected:
  void expect_refused(const Sent& sent, bool pixels, const std::string& expected,
                      const std::string& found) const {
    PipedSamples samples = described({pipe("one", {frame(sent), end()})});
    samples.pixels = pixels;
    const auto stream = open_sample_pipes(samples);
    Sample sample;
    expect_error([&] { stream->next(sample); }, {"sample 0", expected, found});
  }
};

TEST_F(UnitSamplePipes, take_turns_from_the_sample_that_was_asked_for) {
  PipedSamples samples = described({pipe("one", {frame({.label = 0}), frame({.label = 2}), end()}),
                                    pipe("other", {frame({.label = 1}), end()})});
  samples.samples = 10;
  const auto stream = open_sample_pipes(samples);
  ASSERT_TRUE(stream->seekable());
  stream->seek(7);
  Sample sample;
  for (std::int32_t label = 0; label < 3; ++label) {
    ASSERT_TRUE(stream->next(sample));
    EXPECT_EQ(sample.label, label);
    EXPECT_EQ(sample.name, "cat.jpg");
    EXPECT_EQ(as_text(sample.bytes), "image");
    EXPECT_EQ(sample.codec, nullptr);
  }
  EXPECT_FALSE(stream->next(sample));
  const std::string asked = read_text(samples.asks);
  ASSERT_EQ(asked.size(), 8U);
  EXPECT_EQ(load_le<std::uint64_t>(as_bytes(asked).data()), 7U);
  expect_error([&] { stream->seek(0); }, {"one order"});
}

TEST_F(UnitSamplePipes, pixels_have_a_shape) {
  PipedSamples samples =
      described({pipe("one", {frame({.kind = 2, .shape = {1, 2, 3}, .image = "abcdef"})})});
  samples.pixels = true;
  const auto stream = open_sample_pipes(samples);
  Sample sample;
  ASSERT_TRUE(stream->next(sample));
  EXPECT_EQ(sample.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(sample.codec, &raw_codec);
}

TEST_F(UnitSamplePipes, that_end_before_their_sender_said_so_are_a_stop) {
  const Buffer whole = frame({});
  const std::vector<std::size_t> sizes{0, 5, 31, 34, whole.size() - 1};
  for (const std::size_t size : sizes) {
    const auto cut = pipe("one", {Buffer(whole.begin(), whole.begin() + std::ptrdiff_t(size))});
    const pid_t child = ::fork();  // a stop that was requested cannot be withdrawn
    if (child == 0) {
      Sample sample;
      try {
        open_sample_pipes(described({cut}))->next(sample);
      } catch (const Stopped&) {
        ::_exit(stop_requested() ? 42 : 1);
      }
      ::_exit(2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 42) << size << " bytes";
  }
}

TEST_F(HostileSamplePipes, frames_are_checked_before_they_are_used) {
  expect_refused({.kind = 9}, false, "expected kind 1", "found 9");
  expect_refused({.kind = 2}, false, "expected kind 1", "found 2");
  expect_refused({.label = -4}, false, "a label from 0", "found -4");
  expect_refused({.name = std::string(5000, 'x')}, false, "at most 4096", "found 5000");
  expect_refused({.kind = 2, .shape = {1, 2, 3}}, true, "the bytes of an image", "found 5");
  expect_refused({.kind = 2, .shape = {1, 1, 5}}, true, "the bytes of an image", "found 5");
  PipedSamples samples = described({pipe("one", {frame({.kind = 3, .name = "", .image = ""})})});
  Sample sample;
  expect_error([&] { open_sample_pipes(samples)->next(sample); }, {"gave up"});
}

TEST_F(HostileSamplePipes, a_file_that_describes_no_samples_is_named) {
  const auto expect = [&](const std::string& text, std::string_view part) {
    expect_error([&] { read_piped_samples(description(text)); }, {"description", part});
  };
  expect("", "parse error");
  expect("[]", "does not describe samples");
  expect(R"({"split": 7})", "must be string");
  expect(R"({"split": "train", "origin": "", "identity": "", "samples": 0, "pixels": false,
             "classes": 0, "class_names": [], "asks": "a", "pipes": []})",
         "names no pipes");
}

}  // namespace
}  // namespace feedrate::converters
