#include "converters/pipeline/journal.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <nlohmann/json.hpp>

#include "formats/base/error.h"
#include "formats/io/mapped_file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view notes_name = PartialDirectory::progress;
constexpr std::string_view digests_name = "progress.bin";
constexpr std::size_t entry_bytes = sizeof(SampleDigests);

Json to_json(const Tally& tally, const std::vector<std::string>& purpose) {
  Json skipped = Json::array();
  for (const Skipped& sample : tally.skipped) {
    skipped.push_back({sample.position, sample.name, sample.reason});
  }
  const Shape& shape = tally.shape;
  return {{"purpose", purpose},
          {"read", tally.read},
          {"written", tally.written},
          {"bytes", tally.bytes},
          {"seconds", tally.seconds},
          {"mended", tally.mended},
          {"lists_cut", tally.lists_cut},
          {"boxes_left_out", tally.boxes_left_out},
          {"extras_damaged", tally.extras_damaged},
          {"doubtful", tally.doubtful},
          {"same_shape", tally.same_shape},
          {"decoded", tally.decoded},
          {"shape", {shape.height, shape.width, shape.channels}},
          {"codec", tally.codec},
          {"class_counts", tally.class_counts},
          {"sums", tally.same_shape ? tally.sums : std::vector<std::uint64_t>()},
          {"skipped", skipped},
          {"details", tally.details.sums},
          {"writer_samples", tally.writer.samples},
          {"writer_files", tally.writer.files},
          {"files", tally.files}};
}

FinishedPart from_json(const Json& object) {
  FinishedPart part;
  Tally& tally = part.tally;
  object.at("purpose").get_to(part.purpose);
  object.at("read").get_to(tally.read);
  object.at("written").get_to(tally.written);
  object.at("bytes").get_to(tally.bytes);
  tally.seconds = object.value("seconds", 0.0);  // 1.0 wrote none
  object.at("mended").get_to(tally.mended);
  const auto count = [&](const char* name) { return object.value(name, std::uint64_t{0}); };
  tally.lists_cut = count("lists_cut");
  tally.boxes_left_out = count("boxes_left_out");
  tally.extras_damaged = count("extras_damaged");
  tally.doubtful = object.value("doubtful", std::uint64_t{0});
  object.at("same_shape").get_to(tally.same_shape);
  object.at("decoded").get_to(tally.decoded);
  const auto shape = object.at("shape").get<std::array<std::uint32_t, 3>>();
  tally.shape = {shape[0], shape[1], shape[2]};
  object.at("codec").get_to(tally.codec);
  object.at("class_counts").get_to(tally.class_counts);
  object.at("sums").get_to(tally.sums);
  for (const Json& sample : object.at("skipped")) {
    tally.skipped.push_back({sample.at(0), sample.at(1), sample.at(2)});
  }
  object.at("details").get_to(tally.details.sums);
  object.at("writer_samples").get_to(tally.writer.samples);
  object.at("writer_files").get_to(tally.writer.files);
  tally.files = object.value("files", tally.files);  // absent in parts of older versions
  return part;
}

FinishedPart read_notes(const fs::path& file) {
  try {
    return from_json(Json::parse(read_text(file)));
  } catch (const nlohmann::json::exception& error) {
    fail(file, "cannot be understood: ", error.what());
  }
}

void add(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}

}  // namespace

void Tally::append(const Tally& next) {
  const bool first = written == 0;
  if (first) {
    shape = next.shape;
    codec = next.codec;
  } else if (next.written != 0 && codec != next.codec) {
    codec = "mixed";
  }
  same_shape = same_shape && next.same_shape && (next.written == 0 || shape == next.shape);
  decoded = decoded && next.decoded;
  for (const Skipped& sample : next.skipped) skipped.push_back(sample);
  read += next.read;
  written += next.written;
  bytes += next.bytes;
  seconds += next.seconds;
  mended += next.mended;
  lists_cut += next.lists_cut;
  boxes_left_out += next.boxes_left_out;
  extras_damaged += next.extras_damaged;
  doubtful += next.doubtful;
  add(class_counts, next.class_counts);
  add(sums, next.sums);
  details.add(next.details);
}

std::optional<MeanImage> Tally::mean() const {
  if (!same_shape || !decoded || written == 0 || sums.size() != shape.bytes()) return std::nullopt;
  MeanImage mean{shape, {}};
  for (const std::uint64_t sum : sums) {
    mean.values.push_back(static_cast<double>(sum) / static_cast<double>(written));
  }
  return mean;
}

std::optional<std::pair<std::string, std::string>> first_difference(
    const std::vector<std::string>& one, const std::vector<std::string>& other) {
  const auto [at, there] = std::ranges::mismatch(one, other);
  if (at == one.end() && there == other.end()) return std::nullopt;
  const std::string nothing = "nothing";
  return std::pair(at == one.end() ? nothing : *at, there == other.end() ? nothing : *there);
}

Journal::Journal(PartialDirectory& directory, std::vector<std::string> purpose)
    : directory_(directory), purpose_(std::move(purpose)) {}

Journal::~Journal() = default;

bool Journal::exists() const { return fs::exists(directory_.path() / notes_name); }

Tally Journal::load(const DigestSink& each) {
  FinishedPart part = read_journal(directory_.path());
  if (const auto lines = first_difference(part.purpose, purpose_)) {
    fail(directory_.path(), "was started with '", lines->first, "', now it is '", lines->second,
         "': it cannot be resumed; give the same inputs and options, or remove it to start over");
  }
  const std::uint64_t written = part.tally.written;
  read_digests(directory_.path(), written, each);
  digests_ = std::make_unique<OutputFile>(directory_.path() / digests_name, written * entry_bytes);
  return std::move(part.tally);
}

void Journal::add(const SampleDigests& sample) {
  if (digests_ == nullptr)
    digests_ = std::make_unique<OutputFile>(directory_.path() / digests_name);
  digests_->write(std::as_bytes(std::span(&sample, 1)));
}

void Journal::save(const Tally& tally) {
  // Also without a sample: load() reads it.
  if (digests_ == nullptr)
    digests_ = std::make_unique<OutputFile>(directory_.path() / digests_name);
  assert(digests_->position() == tally.written * entry_bytes);
  digests_->flush();
  directory_.sync();
  write_text(directory_.path() / notes_name,
             to_json(tally, purpose_).dump(1, ' ', false, Json::error_handler_t::replace));
  directory_.keep();
}

void Journal::remove() {
  digests_.reset();
  std::error_code ignored;
  fs::remove(directory_.path() / notes_name, ignored);
  fs::remove(directory_.path() / digests_name, ignored);
}

bool is_journal(std::string_view file_name) {
  return file_name == notes_name || file_name == digests_name;
}

std::vector<std::pair<std::string, std::uint64_t>> files_of_part(const fs::path& directory) {
  std::vector<std::pair<std::string, std::uint64_t>> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && !is_journal(name) && name != PartialDirectory::mark)
      files.emplace_back(name, entry.file_size());
  }
  std::ranges::sort(files);
  return files;
}

FinishedPart read_journal(const fs::path& directory) { return read_notes(directory / notes_name); }

void read_digests(const fs::path& directory, std::uint64_t written, const DigestSink& each) {
  const MappedFile file(directory / digests_name);
  file.expect_reading_in_order();
  const std::uint64_t held = file.bytes().size() / entry_bytes;
  if (held < written) {
    fail(file.path(), "holds ", held, " samples' digests, expected ", written);
  }
  for (std::uint64_t i = 0; i < written; ++i) {
    each(load_le<SampleDigests>(file.bytes().data() + i * entry_bytes));
  }
  file.expect_unchanged();
}

Tally read_journal_counts(const fs::path& directory) {
  const fs::path file = directory / notes_name;
  return fs::exists(file) ? read_notes(file).tally : Tally{};
}

}  // namespace feedrate::converters
