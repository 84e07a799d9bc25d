#include "tools/program/cluster/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "converters/pipeline/journal.h"
#include "converters/pipeline/parts.h"
#include "formats/base/error.h"
#include "formats/base/without_slash.h"
#include "formats/io/directory_lock.h"
#include "formats/sidecar.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;
using namespace converters;

namespace {

namespace fs = std::filesystem;

constexpr std::array names = {"waiting", "running", "failed", "done"};

const char* name_of(PieceState state) { return names[static_cast<std::size_t>(state)]; }

PieceStatus status_of_partial(const fs::path& partial, std::uint32_t number) {
  return {.number = number,
          .state = is_being_written(partial) ? PieceState::running : PieceState::failed,
          .samples = read_journal_counts(partial).written};
}

PieceStatus status_of_part(const FoundPart& found) {
  if (!found.whole) return status_of_partial(found.path, found.part.number);
  const Tally tally = read_journal_counts(found.path);
  return {.number = found.part.number,
          .state = PieceState::done,
          .samples = tally.written,
          .seconds = tally.seconds};
}

struct Mean {
  double samples = 0;  // of a piece
  double seconds = 0;
};

// Of the pieces that are done; nothing if none is.
std::optional<Mean> mean_piece(const std::vector<PieceStatus>& pieces) {
  Mean sum;
  double count = 0;
  for (const PieceStatus& piece : pieces) {
    if (piece.state != PieceState::done || piece.seconds <= 0) continue;
    sum.samples += static_cast<double>(piece.samples);
    sum.seconds += piece.seconds;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return Mean{sum.samples / count, sum.seconds / count};
}

}  // namespace

std::uint64_t ConversionStatus::count(PieceState state) const {
  return static_cast<std::uint64_t>(std::ranges::count(pieces, state, &PieceStatus::state));
}

std::uint64_t ConversionStatus::samples() const {
  std::uint64_t sum = 0;
  for (const PieceStatus& piece : pieces) sum += piece.samples;
  return sum;
}

std::optional<double> ConversionStatus::samples_per_second() const {
  const std::optional<Mean> mean = mean_piece(pieces);
  const std::uint64_t running = count(PieceState::running);
  if (!mean || running == 0) return std::nullopt;
  return static_cast<double>(running) * mean->samples / mean->seconds;
}

std::optional<double> ConversionStatus::seconds_left() const {
  const std::optional<double> rate = samples_per_second();
  if (!rate || *rate == 0) return std::nullopt;
  double left = 0;
  const double of_one = mean_piece(pieces)->samples;
  for (const PieceStatus& piece : pieces) {
    if (piece.state == PieceState::done) continue;
    left += std::max(0.0, of_one - static_cast<double>(piece.samples));
  }
  return left / *rate;
}

ConversionStatus status_of(const fs::path& given) {
  const fs::path out = without_slash(given);
  ConversionStatus status{.path = out, .pieces = {}};
  if (fs::exists(out)) {
    const std::optional<Sidecar> sidecar = read_sidecar(out);
    if (!sidecar) fail(out, "has no ", sidecar_name, ": it was not made by 'feedrate convert'");
    status.whole = true;
    status.pieces.push_back({.state = PieceState::done, .samples = sidecar->count});
    return status;
  }
  fs::path partial = out;
  partial += ".partial";
  const std::vector<FoundPart> parts = find_parts(out);
  if (parts.empty()) {
    if (!fs::exists(partial)) {
      fail(out, "is not there, nor ", partial.filename(), " or ", out.filename(),
           ".part-1-of-N beside it");
    }
    status.pieces.push_back(status_of_partial(partial, 1));
    return status;
  }
  for (std::uint32_t number = 1; number <= parts.front().part.count; ++number) {
    status.pieces.push_back({.number = number});
  }
  for (const FoundPart& found : parts) {
    PieceStatus& piece = status.pieces[found.part.number - 1];
    if (piece.state != PieceState::done) piece = status_of_part(found);
  }
  status.joining = all_whole(parts) && fs::exists(partial) && is_being_written(partial);
  return status;
}

std::string status_text(const ConversionStatus& status) {
  const std::string path = status.path.string();
  if (status.whole) return fmt::format("{}: whole, {}\n", path, counted(status.samples(), "image"));
  std::string text = fmt::format("{}: {}", path, counted(status.pieces.size(), "piece"));
  for (const PieceState state :
       {PieceState::done, PieceState::running, PieceState::failed, PieceState::waiting}) {
    text += fmt::format("{} {} {}", state == PieceState::done ? ":" : ",", status.count(state),
                        name_of(state));
  }
  text += fmt::format("\n  {} written", counted(status.samples(), "image"));
  if (const auto rate = status.samples_per_second()) {
    text += fmt::format(", {} images/s, at most {} left", quantity(*rate),
                        duration_text(*status.seconds_left()));
  }
  text += status.joining ? "; the pieces are being joined\n" : "\n";
  if (status.count(PieceState::failed) != 0) {
    text += "  failed:";
    for (const PieceStatus& piece : status.pieces) {
      if (piece.state == PieceState::failed) text += fmt::format(" {}", piece.number);
    }
    text += "; the same command again goes on with them\n";
  } else if (status.count(PieceState::done) == status.pieces.size() && !status.joining) {
    text += fmt::format("  all are done: 'feedrate convert --join {}' joins them\n", path);
  }
  return text;
}

template <class Field>
void for_each_field(const PieceStatus& piece, const Field& field) {
  field("number", piece.number, {"1 …"});
  field("state", name_of(piece.state), {"`done`, `running`, `failed` or `waiting`"});
  field("samples", piece.samples, {"written"});
  field("seconds", only_if(piece.seconds > 0, piece.seconds),
        {"that it took, without the runs that were killed", Unit{"s"},
         Null{"it is not done, or not a piece of several"}, Digits{3}});
}

template <>
inline constexpr Heading heading_of<ConversionStatus>{"status", "What `feedrate status` prints."};

template <class Field>
void for_each_field(const ConversionStatus& status, const Field& field) {
  constexpr std::string_view no_rate = "none is done, or none is running";
  field("path", status.path.string(), {"the dataset as given"});
  field("whole", status.whole, {"it has its final name; it is then one piece, which is done"});
  field("joining", status.joining, {"all pieces are done, and a process joins them"});
  field("done", status.count(PieceState::done), {"pieces that are whole"});
  field("running", status.count(PieceState::running), {"pieces that a process is making"});
  field("failed", status.count(PieceState::failed),
        {"pieces that were begun, but no process is making them"});
  field("waiting", status.count(PieceState::waiting), {"pieces of which nothing is there"});
  field("samples", status.samples(),
        {"written, in all pieces; unfinished pieces as their journals last said"});
  field("images_per_second", status.samples_per_second(),
        {"of all running pieces, if each is as fast as those that are done", Unit{"images/s"},
         Null{no_rate}, Digits{1}});
  field("seconds_left", status.seconds_left(),
        {"at that rate; at most the time of one piece too long", Unit{"s"}, Null{no_rate},
         Digits{1}});
  field("pieces", status.pieces, {"one object for each"});
}

Description describe_status() { return description_of(ConversionStatus{}); }

std::string status_json(const ConversionStatus& status) { return json_text_of(status); }

}  // namespace feedrate::tools
