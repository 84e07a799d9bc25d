#include "formats/sidecar.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;  // keeps keys in the order in which people read them

constexpr std::string_view checksum_start = ",\n  \"checksum\": \"";  // the last key
constexpr std::string_view checksum_end = "\"\n}\n";

std::string checksum_of(std::string_view text) {
  return "xxh128:" + hex(stored_digest(0, as_bytes(text)));
}

// Missing keys keep their default: the file may come from an older or newer Feedrate.
template <class T>
void take(const Json& object, const char* key, T& value) {
  if (const auto at = object.find(key); at != object.end()) at->get_to(value);
}

void take_count(const Json& object, const fs::path& file, std::uint64_t& count) {
  const auto at = object.find("count");
  if (at == object.end()) return;
  if (!at->is_number_unsigned())
    fail(file, "expected a number of samples as \"count\", found ", at->dump());
  at->get_to(count);
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

std::vector<Sidecar::File> files_from_json(const Json& object, const char* key) {
  std::vector<Sidecar::File> files;
  for (const Json& entry : object.value(key, Json::array())) {
    Sidecar::File& file = files.emplace_back();
    take(entry, "name", file.name);
    take(entry, "bytes", file.bytes);
    if (entry.contains("sha256")) {  // written by older versions
      file.hash = join("sha256:", entry.at("sha256").get<std::string>());
    }
    take(entry, "hash", file.hash);
  }
  return files;
}

Sidecar from_json(const Json& object, const fs::path& file) {
  Sidecar sidecar;
  take(object, "tool_version", sidecar.tool_version);
  take(object, "source", sidecar.source);
  take(object, "split", sidecar.split);
  take(object, "format", sidecar.format);
  take(object, "codec", sidecar.codec);
  take(object, "label_space", sidecar.label_space);
  take_count(object, file, sidecar.count);
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
  take(object, "details_digest", sidecar.details_digest);
  sidecar.files = files_from_json(object, "files");
  sidecar.inputs = files_from_json(object, "inputs");
  return sidecar;
}

Json files_to_json(const std::vector<Sidecar::File>& files) {
  Json list = Json::array();
  for (const Sidecar::File& file : files) {
    list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"hash", file.hash}});
  }
  return list;
}

}  // namespace

fs::path sidecar_file(const fs::path& dataset) {
  std::error_code ignored;  // an unreadable path is reported by the dataset's reader
  return (fs::is_directory(dataset, ignored) ? dataset : dataset.parent_path()) / sidecar_name;
}

std::optional<Sidecar> read_sidecar(const std::filesystem::path& dataset) {
  const fs::path file = sidecar_file(dataset);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return std::nullopt;
  try {
    return from_json(Json::parse(read_text(file)), file);
  } catch (const nlohmann::json::exception& error) {
    fail(file, "cannot be understood: ", error.what());
  }
}

void write_sidecar(const std::filesystem::path& directory, const Sidecar& sidecar) {
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
                       {"details_digest", sidecar.details_digest},
                       {"files", files_to_json(sidecar.files)},
                       {"inputs", files_to_json(sidecar.inputs)},
                       {"options", sidecar.options},
                       {"notes", sidecar.notes}};
  // Names come from archives and need not be UTF-8; replacing bytes is better than failing at the
  // end.
  std::string text = object.dump(2, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - std::string_view("\n}").size());
  write_text(directory / sidecar_name, join(text, checksum_start, checksum_of(text), checksum_end));
}

std::vector<Sidecar::File> files_beside(const fs::path& directory) {
  constexpr std::string_view extensions[] = {".binaryproto", ".idx", ".lst",   ".nd",
                                             ".txt",         ".xml", ".xxh128"};
  std::vector<Sidecar::File> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const auto* end = std::end(extensions);
    if (std::find(std::begin(extensions), end, entry.path().extension().string()) == end) continue;
    if (!entry.is_regular_file()) continue;
    files.push_back({entry.path().filename().string(), entry.file_size(), file_hash(entry.path())});
  }
  std::ranges::sort(files, {}, &Sidecar::File::name);
  return files;
}

SidecarChecksum sidecar_checksum(const fs::path& dataset) {
  const std::string text = read_text(sidecar_file(dataset));
  const std::size_t end = text.rfind(checksum_start);
  if (end == std::string::npos) return {};
  std::string_view stated = std::string_view(text).substr(end + checksum_start.size());
  if (stated.ends_with(checksum_end)) stated.remove_suffix(checksum_end.size());
  return {std::string(stated), checksum_of(std::string_view(text).substr(0, end))};
}

}  // namespace feedrate::formats
