#include "trainer/loop/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/file.h"
#include "formats/io/mapped_file.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t length_bytes = sizeof(std::uint64_t);
constexpr std::uint64_t max_header = 100'000'000;  // the safetensors library's own limit

// A tensor of a session and its name in a checkpoint.
struct Slot {
  std::string name;
  std::size_t parameter;
  std::optional<std::size_t> state;  // none: the parameter itself
};

std::vector<Slot> slots(const Session& session) {
  const std::vector<Parameter>& parameters = session.plan().graph.parameters;
  std::vector<Slot> all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    all.push_back({parameters[i].name, i, std::nullopt});
  }
  for (std::size_t slot = 0; slot < session.states(); ++slot) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].learned) continue;
      all.push_back({join("optimizer.", slot, ".", parameters[i].name), i, slot});
    }
  }
  return all;
}

// Describes how pixels are scaled. A preset may change the scaling, and parameters are useless
// under another one. A channel is listed only where it differs from the first, so equal scalings
// give equal texts.
std::string scaling(const Graph& graph) {
  std::string text;
  const Attributes& attributes = graph.nodes.front().attributes;
  for (const auto& [name, value] : attributes) {
    const std::string_view first = name.starts_with("mean")    ? "mean"
                                   : name.starts_with("scale") ? "scale"
                                                               : "";
    if (first.empty() || (name != first && value == attributes.number(first))) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

Json header_of(const Session& session, const Position& position) {
  Json header;
  const Optimizer* optimizer = session.optimizer();
  header["__metadata__"] = {{"network", position.network},
                            {"optimizer", optimizer == nullptr ? "" : optimizer->name()},
                            {"pixels", scaling(session.plan().graph)},
                            {"seed", std::to_string(position.seed)},
                            {"step", std::to_string(position.step)},
                            {"epoch", std::to_string(position.epoch)},
                            {"batch", std::to_string(position.batch)},
                            {"batch_images", std::to_string(position.batch_images)},
                            {"dataset_images", std::to_string(position.dataset_images)}};
  if (!position.decode.empty()) header["__metadata__"]["decode"] = position.decode;
  if (!position.terms.empty()) {
    Json terms;
    for (const auto& [name, value] : position.terms) terms[name] = value;
    header["__metadata__"]["terms"] = terms.dump();
  }
  if (const auto scale = session.loss_scale()) {
    header["__metadata__"]["loss_scale"] = std::to_string(scale->scale);
    header["__metadata__"]["loss_scale_steps"] = std::to_string(scale->good_steps);
  }
  std::uint64_t offset = 0;
  for (const Slot& slot : slots(session)) {
    const Parameter& parameter = session.plan().graph.parameters[slot.parameter];
    const std::uint64_t end =
        offset + static_cast<std::uint64_t>(parameter.elements()) * sizeof(float);
    header[slot.name] = {
        {"dtype", "F32"}, {"shape", parameter.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  return header;
}

struct Entry {
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

// A checkpoint, its header checked against the file: every tensor lies inside, no two overlap, and
// no byte is left over.
class Reader {
 public:
  explicit Reader(const fs::path& file) : file_(file) {
    const Json header = parse();
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") {
        metadata_ = value;
      } else {
        entries_.emplace(name, entry(name, value));
      }
    }
    check_cover();
  }

  Position position() const {
    return {.network = text("network"),
            .seed = number("seed"),
            .step = number("step"),
            .epoch = number("epoch"),
            .batch = number("batch"),
            .batch_images = number("batch_images"),
            .dataset_images = number("dataset_images"),
            .decode = {},
            .terms = terms()};
  }

  /// "" in a checkpoint of a session that could only evaluate.
  std::string optimizer() const {
    // Checkpoints without this key are from when SGD was the only optimizer.
    const bool says = metadata_.is_object() && metadata_.contains("optimizer");
    return says ? text("optimizer") : "sgd";
  }

  /// Absent where the session did not scale losses.
  std::optional<LossScale> loss_scale() const {
    if (!metadata_.is_object() || !metadata_.contains("loss_scale")) return std::nullopt;
    const LossScale found{number("loss_scale"), number("loss_scale_steps")};
    if (!std::has_single_bit(found.scale) || found.scale > LossScale::max_scale) {
      fail(path(), "__metadata__: 'loss_scale' must be a power of two up to ", LossScale::max_scale,
           ", found ", found.scale);
    }
    return found;
  }

  /// Absent in checkpoints from before this key existed.
  std::optional<std::string> scaling() const {
    const bool says = metadata_.is_object() && metadata_.contains("pixels");
    return says ? std::optional(text("pixels")) : std::nullopt;
  }

  std::vector<float> tensor(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) fail(path(), "holds no tensor '", name, "'");
    const Entry& entry = found->second;
    if (entry.shape != shape) {
      fail(path(), "tensor ", name, ": expected shape ", Json(shape).dump(), ", found ",
           Json(entry.shape).dump());
    }
    std::vector<float> values((entry.end - entry.begin) / sizeof(float));
    if (!values.empty()) {
      std::memcpy(values.data(), data_.data() + entry.begin, values.size() * sizeof(float));
    }
    const auto bad = std::ranges::find_if(values, [](float one) { return !std::isfinite(one); });
    if (bad != values.end()) {
      fail(path(), "tensor ", name, ": value ", bad - values.begin(), " is ", *bad,
           "; no network works with it");
    }
    return values;
  }

  // Fails on a tensor whose name is not `known`.
  template <class Known>
  void refuse_others(const Known& known) const {
    for (const auto& [name, entry] : entries_) {
      if (!known(name)) fail(path(), "tensor '", name, "' does not belong to this network");
    }
  }

 private:
  const fs::path& path() const { return file_.path(); }

  Json parse() {
    const Bytes bytes = file_.bytes();
    if (bytes.size() < length_bytes) {
      fail(path(), "byte 0: expected the 8 bytes of a header length, found ", bytes.size(),
           "; is it a safetensors file?");
    }
    const auto length = load_le<std::uint64_t>(bytes.data());
    if (length > max_header || length > bytes.size() - length_bytes) {
      fail(path(), "byte 0: a header of ", length, " bytes does not fit the file of ", bytes.size(),
           "; is it truncated, or not a safetensors file?");
    }
    data_ = bytes.subspan(length_bytes + length);
    const std::string_view json = as_text(bytes.subspan(length_bytes, length));
    Json header = Json::parse(json, nullptr, false);
    if (!header.is_object()) fail(path(), "byte 8: the header is not a JSON object");
    return header;
  }

  Entry entry(const std::string& name, const Json& value) const {
    const auto bad = [&](std::string_view what) { fail(path(), "tensor '", name, "': ", what); };
    if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
        !value.contains("data_offsets")) {
      bad("expected dtype, shape and data_offsets");
    }
    if (value["dtype"] != "F32") bad("expected dtype F32, found " + value["dtype"].dump());
    const Json& offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      bad("data_offsets are not two byte positions");
    }
    Entry entry;
    entry.begin = offsets[0];
    entry.end = offsets[1];
    if (entry.begin > entry.end || entry.end > data_.size()) {
      bad(join("bytes ", entry.begin, " to ", entry.end, " are not within the ", data_.size(),
               " bytes of data; is the file truncated?"));
    }
    std::optional<std::uint64_t> bytes = sizeof(float);
    if (!value["shape"].is_array()) bad("the shape is not a list");
    for (const Json& side : value["shape"]) {
      if (!side.is_number_unsigned()) bad("the shape is not a list of sizes");
      const auto size = side.get<std::uint64_t>();
      if (bytes) bytes = checked_multiply(*bytes, size);
      entry.shape.push_back(static_cast<std::int64_t>(size));
    }
    if (bytes != entry.end - entry.begin) {
      bad(join("shape ", value["shape"].dump(), " does not fill ", entry.end - entry.begin,
               " bytes"));
    }
    return entry;
  }

  void check_cover() const {
    std::vector<std::pair<const std::string*, const Entry*>> order;
    for (const auto& [name, entry] : entries_) order.emplace_back(&name, &entry);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second->begin, a.second->end) < std::pair(b.second->begin, b.second->end);
    });
    std::uint64_t end = 0;
    for (const auto& [name, entry] : order) {
      if (entry->begin != end) {
        fail(path(), "tensor '", *name, "': starts at byte ", entry->begin, " of the data where ",
             end, " was expected: tensors overlap or leave gaps");
      }
      end = entry->end;
    }
    if (end != data_.size()) {
      fail(path(), "the tensors end at byte ", end, " of the data, the file at ", data_.size());
    }
  }

  /// None in checkpoints from before this key existed.
  std::vector<std::pair<std::string, std::string>> terms() const {
    std::vector<std::pair<std::string, std::string>> found;
    if (!metadata_.is_object() || !metadata_.contains("terms")) return found;
    const Json written = Json::parse(text("terms"), nullptr, false);
    for (const auto& [name, value] : written.items()) {
      if (!written.is_object() || !value.is_string()) break;
      found.emplace_back(name, value);
    }
    if (!written.is_object() || found.size() != written.size()) {
      fail(path(), "__metadata__: 'terms' is not a JSON object of texts");
    }
    return found;
  }

  std::string text(const std::string& key) const {
    if (!metadata_.is_object() || !metadata_.contains(key) || !metadata_[key].is_string()) {
      fail(path(), "__metadata__ has no '", key, "'; was this checkpoint written by feedrate?");
    }
    return metadata_[key];
  }

  std::uint64_t number(const std::string& key) const {
    const std::string written = text(key);
    const auto value = parse_number<std::uint64_t>(written);
    if (!value) fail(path(), "__metadata__: '", key, "' is not a number: '", written, "'");
    return *value;
  }

  MappedFile file_;
  Bytes data_;
  Json metadata_;
  std::map<std::string, Entry> entries_;
};

}  // namespace

void save_checkpoint(const fs::path& file, const Session& session, const Position& position) {
  std::string header = header_of(session, position).dump();
  header.resize(round_up(header.size(), length_bytes), ' ');
  replace_file(file, [&](OutputFile& out) {
    Buffer length;
    append_le(length, std::uint64_t{header.size()});
    out.write(length);
    out.write(header);
    for (const Slot& slot : slots(session)) {
      const std::vector<float> values = slot.state ? session.state(slot.parameter, *slot.state)
                                                   : session.parameter(slot.parameter);
      out.write(std::as_bytes(std::span(values)));
    }
  });
}

Position load_checkpoint(const fs::path& file, Session& session) {
  const Reader reader(file);
  const Position position = reader.position();
  const Graph& graph = session.plan().graph;
  if (position.network != graph.network) {
    fail(file, "is a checkpoint of network ", position.network, ", not of ", graph.network);
  }
  const std::string pixels = scaling(graph);
  if (const std::string learned = reader.scaling().value_or(pixels); learned != pixels) {
    fail(file, "was trained on pixels with ", learned, ", not with ", pixels,
         "; was it trained with another preset?");
  }
  const std::string trained_by = reader.optimizer();
  if (session.optimizer() != nullptr && !trained_by.empty() &&
      trained_by != session.optimizer()->name()) {
    fail(file, "was trained by the optimizer ", trained_by, ", not by ",
         session.optimizer()->name(), ", whose state has another meaning");
  }
  const std::vector<Slot> all = slots(session);
  reader.refuse_others([&](const std::string& name) {
    // A session that only evaluates ignores the optimizer's state.
    if (session.states() == 0 && name.starts_with("optimizer.")) return true;
    return std::any_of(all.begin(), all.end(), [&](const Slot& slot) { return slot.name == name; });
  });
  std::vector<std::vector<float>> tensors;  // all are read before the session changes
  for (const Slot& slot : all) {
    tensors.push_back(reader.tensor(slot.name, graph.parameters[slot.parameter].shape));
  }
  if (const auto scale = reader.loss_scale()) session.set_loss_scale(*scale);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].state) {
      session.set_state(all[i].parameter, *all[i].state, tensors[i]);
    } else {
      session.set_parameter(all[i].parameter, tensors[i]);
    }
  }
  return position;
}

Position read_position(const fs::path& file) { return Reader(file).position(); }

}  // namespace feedrate::trainer
