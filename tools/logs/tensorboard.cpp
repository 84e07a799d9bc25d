// An event file as TensorBoard reads it: TFRecords, each of which is a message Event.
//
//   Event: 1 wall_time (double) | 2 step (int64) | 3 file_version (string) | 5 summary (Summary)
//   Summary: 1 value… (Value)    Value: 1 tag (string) | 2 simple_value (float)

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <initializer_list>

#include "formats/containers/tfrecord/tf_record.h"
#include "formats/containers/wire.h"
#include "formats/io/file.h"
#include "tools/logs/log.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

namespace fs = std::filesystem;

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Buffer event(std::uint64_t step) {
  Buffer message;
  append_varint(message, wire_key(1, Wire::fixed64));
  append_le(message, now());
  append_varint_field(message, wire_key(2, Wire::varint), static_cast<std::int64_t>(step));
  return message;
}

/// Its name has to hold "tfevents"; what follows tells runs apart that begin in the same second.
fs::path event_file(const fs::path& directory) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) fail(directory, "cannot make the directory: ", failed.message());
  return directory / fmt::format("events.out.tfevents.{}.feedrate.{}",
                                 static_cast<std::int64_t>(now()), getpid());
}

struct Scalar {
  std::string_view tag;
  double value;
};

class TensorBoardLog final : public TrainingLog {
 public:
  explicit TensorBoardLog(const fs::path& directory) : file_(event_file(directory)) {
    Buffer message = event(0);
    append_delimited_field(message, wire_key(3, Wire::delimited),
                           as_bytes(std::string_view("brain.Event:2")));
    write(message);
  }

  void progress(const LoggedProgress& progress) override {
    const TrainOptions::Progress& at = progress.now;
    write(at.step, {{"train/loss", at.loss},
                    {"train/top-1", at.accuracy},
                    {"train/top-5", at.accuracy5},
                    {"train/images_per_second", at.images_per_second},
                    {"train/stall_percent", at.stall_percent},
                    {"train/learning_rate", progress.rate}});
  }
  void validated(const LoggedValidation& validation) override {
    const Evaluation& evaluation = validation.evaluation;
    write(validation.step, {{"validation/loss", evaluation.loss},
                            {"validation/top-1", evaluation.accuracy},
                            {"validation/top-5", evaluation.accuracy5}});
  }
  void ends() override { file_.close(); }

 private:
  void write(std::uint64_t step, std::initializer_list<Scalar> scalars) {
    Buffer summary;
    for (const Scalar& scalar : scalars) {
      Buffer value;
      append_delimited_field(value, wire_key(1, Wire::delimited), as_bytes(scalar.tag));
      append_varint(value, wire_key(2, Wire::fixed32));
      append_le(value, static_cast<float>(scalar.value));
      append_delimited_field(summary, wire_key(1, Wire::delimited), value);
    }
    Buffer message = event(step);
    append_delimited_field(message, wire_key(5, Wire::delimited), summary);
    write(message);
  }
  void write(const Buffer& message) {
    const Bytes parts[] = {message};
    const TfFrame frame = frame_tf_record(parts);
    file_.write(frame.head);
    file_.write(message);
    file_.write(frame.tail);
    file_.flush();  // it may be looked at while training goes on
  }

  OutputFile file_;
};

class TensorBoardKind final : public LogKind {
 public:
  TensorBoardKind()
      : LogKind("tensorboard", "Write scalars as an event file that TensorBoard shows", "DIR") {}
  std::unique_ptr<TrainingLog> open(const fs::path& directory) const override {
    return std::make_unique<TensorBoardLog>(directory);
  }
};

const TensorBoardKind row;

}  // namespace

extern const LogKind& tensorboard_log;
const LogKind& tensorboard_log = row;

}  // namespace feedrate::tools
