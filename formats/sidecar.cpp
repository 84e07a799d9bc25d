#include "formats/sidecar.h"

#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

using Json = nlohmann::ordered_json;  // keeps keys in the order in which people read them

// Missing keys keep their default: the file may come from an older or newer Feedrate.
template <class T>
void take(const Json& object, const char* key, T& value) {
  if (const auto at = object.find(key); at != object.end()) at->get_to(value);
}

Json shape_to_json(const Shape& shape) {
  return {{"height", shape.height}, {"width", shape.width}, {"channels", shape.channels}};
}

Shape shape_from_json(const Json& object) {
  Shape shape;
  take(object, "height", shape.height);
  take(object, "width", shape.width);
  take(object, "channels", shape.channels);
  return shape;
}

Sidecar from_json(const Json& object) {
  Sidecar sidecar;
  take(object, "tool_version", sidecar.tool_version);
  take(object, "source", sidecar.source);
  take(object, "split", sidecar.split);
  take(object, "format", sidecar.format);
  take(object, "codec", sidecar.codec);
  take(object, "label_space", sidecar.label_space);
  take(object, "count", sidecar.count);
  if (object.contains("shape")) sidecar.shape = shape_from_json(object.at("shape"));
  take(object, "classes", sidecar.classes);
  take(object, "class_names", sidecar.class_names.names);
  take(object, "class_texts", sidecar.class_names.texts);
  take(object, "class_counts", sidecar.class_counts);
  take(object, "bytes_digest", sidecar.bytes_digest);
  take(object, "notes", sidecar.notes);
  take(object, "digest", sidecar.digest);
  take(object, "set_digest", sidecar.set_digest);
  take(object, "options", sidecar.options);
  for (const Json& entry : object.value("inputs", Json::array())) {
    Sidecar::Input input;
    take(entry, "name", input.name);
    take(entry, "bytes", input.bytes);
    if (entry.contains("sha256")) {  // written by older versions
      input.hash = join("sha256:", entry.at("sha256").get<std::string>());
    }
    take(entry, "hash", input.hash);
    sidecar.inputs.push_back(std::move(input));
  }
  return sidecar;
}

}  // namespace

std::optional<Sidecar> read_sidecar(const std::filesystem::path& dataset) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // an unreadable path is reported by the dataset's reader
  const fs::path directory = fs::is_directory(dataset, ignored) ? dataset : dataset.parent_path();
  const fs::path file = directory / sidecar_name;
  if (!fs::exists(file, ignored)) return std::nullopt;
  try {
    return from_json(Json::parse(read_text(file)));
  } catch (const nlohmann::json::exception& error) {
    fail(file, "cannot be understood: ", error.what());
  }
}

void write_sidecar(const std::filesystem::path& directory, const Sidecar& sidecar) {
  Json inputs = Json::array();
  for (const Sidecar::Input& input : sidecar.inputs) {
    inputs.push_back({{"name", input.name}, {"bytes", input.bytes}, {"hash", input.hash}});
  }
  const Json object = {{"tool_version", sidecar.tool_version},
                       {"source", sidecar.source},
                       {"split", sidecar.split},
                       {"format", sidecar.format},
                       {"codec", sidecar.codec},
                       {"label_space", sidecar.label_space},
                       {"count", sidecar.count},
                       {"shape", shape_to_json(sidecar.shape)},
                       {"classes", sidecar.classes},
                       {"class_names", sidecar.class_names.names},
                       {"class_texts", sidecar.class_names.texts},
                       {"class_counts", sidecar.class_counts},
                       {"digest", sidecar.digest},
                       {"set_digest", sidecar.set_digest},
                       {"bytes_digest", sidecar.bytes_digest},
                       {"inputs", inputs},
                       {"options", sidecar.options},
                       {"notes", sidecar.notes}};
  // Names come from archives and need not be UTF-8; replacing bytes is better than failing at the
  // end.
  write_text(directory / sidecar_name,
             object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace feedrate::formats
