// An event file as TensorBoard reads it: TFRecords that each hold one Event message.
//
//   Event: 1 wall_time (double) | 2 step (int64) | 3 file_version (string) | 5 summary (Summary)
//          | 7 session_log (SessionLog)
//   Summary: 1 value… (Value)    Value: 1 tag (string) | 2 simple_value (float)
//   SessionLog: 1 status (1: start; readers drop what they found from its step on)

#include "formats/containers/tfrecord/tf_record.h"
#include "formats/containers/wire.h"
#include "tools/lab/logs/log_kind.h"

namespace feedrate::tools {
using namespace formats;

namespace {

struct Scalar {
  std::string_view event, key, tag;
};
constexpr Scalar scalars[] = {{"progress", "loss", "train/loss"},
                              {"progress", "accuracy", "train/top-1"},
                              {"progress", "accuracy5", "train/top-5"},
                              {"progress", "images_per_second", "train/images_per_second"},
                              {"progress", "stall_percent", "train/stall_percent"},
                              {"progress", "learning_rate", "train/learning_rate"},
                              {"validation", "loss", "validation/loss"},
                              {"validation", "accuracy", "validation/top-1"},
                              {"validation", "accuracy5", "validation/top-5"}};

Buffer summary(const Event& event) {
  Buffer summary;
  for (const Scalar& scalar : scalars) {
    if (scalar.event != event.type) continue;
    Buffer value;
    append_delimited_field(value, wire_key(1, Wire::delimited), as_bytes(scalar.tag));
    append_varint(value, wire_key(2, Wire::fixed32));
    append_le(value, static_cast<float>(event.number(scalar.event, scalar.key)));
    append_delimited_field(summary, wire_key(1, Wire::delimited), value);
  }
  return summary;
}

std::string tensorboard_record(const Event& event) {
  const bool first = event.type == "init", resumed = event.type == "resume";
  if (!first && !resumed && event.type != "progress" && event.type != "validation") return {};
  const Value* found = event.find(event.type, "step");
  const std::uint64_t step = found ? std::get<std::uint64_t>(*found) : 0;
  const std::chrono::duration<double> wall_time = event.time.time_since_epoch();
  Buffer message;
  append_varint(message, wire_key(1, Wire::fixed64));
  append_le(message, wall_time.count());
  append_varint_field(message, wire_key(2, Wire::varint),
                      static_cast<std::int64_t>(resumed ? step + 1 : step));
  if (first) {
    append_delimited_field(message, wire_key(3, Wire::delimited),
                           as_bytes(std::string_view("brain.Event:2")));
  } else if (resumed) {
    Buffer session;
    append_varint_field(session, wire_key(1, Wire::varint), 1);
    append_delimited_field(message, wire_key(7, Wire::delimited), session);
  } else {
    append_delimited_field(message, wire_key(5, Wire::delimited), summary(event));
  }
  const Bytes parts[] = {message};
  const TfFrame frame = frame_tf_record(parts);
  return join(as_text(frame.head), as_text(message), as_text(frame.tail));
}

}  // namespace

const LogKind tensorboard_log{.name = "tensorboard",
                              .place = "DIR",
                              .summary = "Write scalars for TensorBoard",
                              .follows_load = false,
                              .replaces = false,
                              .bytes = tensorboard_record};

}  // namespace feedrate::tools
