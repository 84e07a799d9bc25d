// The output of `feedrate inspect` on a terminal.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/container.h"
#include "tools/console/bars.h"
#include "tools/console/text.h"
#include "tools/program/commands/inspect_report.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::size_t screen = 100;       // columns
constexpr std::size_t title_columns = 9;  // "format   "
constexpr std::size_t max_rows = 20;      // of classes; of more, only extremes are shown
constexpr std::size_t extremes = 4;       // largest classes shown then, and smallest
constexpr std::size_t max_files = 6;      // of more, only the sum is shown
constexpr std::size_t max_name = 36;      // columns of the name of a class
constexpr std::size_t hash_letters = 23;  // "xxh128:" and enough digits to recognise it

std::string line(std::string_view title, std::string_view text) {
  return fitted(title, title_columns) + wrapped(text, title_columns, screen) + "\n";
}

bool all_looked_at(const Inspection& found) { return found.survey.looked() == found.info.size; }

// "all 60,000 samples", or how many of them.
std::string looked_at(const Inspection& found) {
  if (all_looked_at(found)) return fmt::format("all {} samples", grouped(found.info.size));
  return fmt::format("{} of {} samples, spread evenly", grouped(found.survey.looked()),
                     grouped(found.info.size));
}

std::string images_text(const Inspection& found) {
  const Survey& survey = found.survey;
  const Shape stated = found.info.sidecar ? found.info.sidecar->shape : Shape{};
  std::string text = grouped(found.info.size);
  if (stated != Shape{}) {
    text += ", each " + shape_text(stated);
  } else if (survey.heights.min == survey.heights.max && survey.widths.min == survey.widths.max &&
             (survey.grey == 0 || survey.grey == survey.samples.size()) &&
             !survey.samples.empty()) {
    text += fmt::format(", {} {}", all_looked_at(found) ? "each" : "those examined",
                        shape_text(found.info.shape));
  } else {
    text += ", of different sizes, the first " + shape_text(found.info.shape);
  }
  return text + " (height × width × channels)";
}

std::string files_text(const Inspection& found) {
  if (found.files.empty()) return "one for each image\n";
  std::uint64_t total = 0;
  for (const auto& file : found.files) total += file.bytes;
  std::string text;
  if (found.files.size() > 1) {
    const auto [least, most] = std::ranges::minmax(
        found.files, {}, [](const Inspection::File& file) { return file.bytes; });
    text += fmt::format("{}, {} in all, from {} to {}\n", counted(found.files.size(), "file"),
                        bytes_text(total), bytes_text(least.bytes), bytes_text(most.bytes));
  }
  if (found.files.size() > max_files) return text;
  for (const auto& file : found.files) {
    if (!text.empty()) text += std::string(title_columns, ' ');
    text +=
        fmt::format("{}, {}\n", harmless(file.path.filename().string()), bytes_text(file.bytes));
  }
  return text;
}

std::string sidecar_text(const DatasetInfo& info) {
  const Sidecar& sidecar = *info.sidecar;
  const bool reordered = std::ranges::any_of(all_containers(), [&](const Container* one) {
    return one->name() == info.format && !one->keeps_order();
  });
  std::string text = line("source", harmless(sidecar.source + ", " + sidecar.split));
  for (const Sidecar::Input& input : sidecar.inputs) {
    std::string described = fmt::format("{}, {}", input.name, bytes_text(input.bytes));
    if (!input.hash.empty()) described += fmt::format(", {}…", input.hash.substr(0, hash_letters));
    text += line("input", harmless(described));
  }
  std::string options;
  for (const std::string& option : sidecar.options)
    options += (options.empty() ? "" : " ") + option;
  if (!options.empty()) text += line("options", harmless(options));
  if (!sidecar.digest.empty()) {
    text += line("digest", sidecar.digest + (reordered ? " as written" : ""));
  } else if (!sidecar.bytes_digest.empty()) {
    text += line("digest", sidecar.bytes_digest + " of the bytes");
  }
  for (const std::string& note : sidecar.notes) text += line("note", harmless(note));
  return text;
}

std::string name_of(const Inspection& found, std::int32_t label) {
  const std::vector<std::string>& names = found.info.class_names.names;
  const std::vector<std::string>& texts = found.info.class_names.texts;
  const auto at = static_cast<std::size_t>(label);
  if (label < 0 || at >= names.size() || names[at] == std::to_string(label)) return {};
  return harmless(at < texts.size() ? names[at] + " " + texts[at] : names[at]);
}

/// Rows of label, name, count and bar; all bars have the same scale.
class ClassRows {
 public:
  ClassRows(const Inspection& found, std::uint64_t largest) : found_(found), largest_(largest) {
    for (const auto& [label, count] : found.class_counts) {
      label_columns_ = std::max(label_columns_, std::to_string(label).size());
      name_columns_ = std::max(name_columns_, columns_of(name_of(found, label)));
    }
    name_columns_ = std::min(name_columns_, max_name);
    count_columns_ = grouped(largest).size();
  }

  std::string row(std::int32_t label, std::uint64_t count) const {
    std::string text = fmt::format("  {:>{}} ", label, label_columns_);
    if (name_columns_ != 0) text += fitted(name_of(found_, label), name_columns_) + " ";
    text += fmt::format("{:>{}}", grouped(count), count_columns_);
    const std::string drawn = bar(count, largest_, screen - columns_of(text) - 1);
    return text + (drawn.empty() ? "" : " " + drawn) + "\n";
  }

 private:
  const Inspection& found_;
  std::uint64_t largest_;
  std::size_t label_columns_ = 0, name_columns_ = 0, count_columns_ = 0;
};

// Whether the counts of a random sample differ no more than chance explains: their chi-square is at
// most three standard deviations above its mean for classes of equal size.
bool alike_by_chance(const std::vector<std::uint64_t>& counts) {
  double sum = 0, squares = 0;
  for (const std::uint64_t count : counts) {
    sum += static_cast<double>(count);
    squares += static_cast<double>(count) * static_cast<double>(count);
  }
  const double freedom = static_cast<double>(counts.size()) - 1;
  const double mean = sum / static_cast<double>(counts.size());
  return mean > 0 && squares / mean - sum <= freedom + 3 * std::sqrt(2 * freedom);
}

// Says how balanced the classes are, which bars of nearly equal length hardly show.
std::string balance_text(const Inspection& found, const std::vector<std::uint64_t>& counts,
                         const Quantiles& of) {
  if (counts.size() < 2) return {};
  const std::string span = of.min == of.max
                               ? fmt::format("each has {}", counted(of.max, "sample"))
                               : fmt::format("{}–{} samples a class, median {}", grouped(of.min),
                                             grouped(of.max), grouped(of.median));
  constexpr std::uint64_t balanced = 100;  // they differ by at most one part in 100
  const bool guessed = found.counted == Inspection::Source::some;
  if (of.max == 0) return {};
  if ((of.max - of.min) * balanced <= of.max) return "balanced: " + span;
  if (guessed && alike_by_chance(counts)) return "may be balanced: " + span + " of those examined";
  return (guessed ? "not balanced: " + span + " of those examined" : span) +
         (of.min == 0 ? ""
                      : fmt::format(", the largest {:.1f} times the smallest",
                                    static_cast<double>(of.max) / static_cast<double>(of.min)));
}

// For many classes: their profile, and the largest and smallest ones.
std::string many_classes(const Inspection& found, const std::vector<std::uint64_t>& counts,
                         const Quantiles& spread) {
  if (spread.min == spread.max) return {};
  std::string text = "  " + profile(counts, screen - 2) + "\n";
  auto ranked = found.class_counts;
  std::ranges::stable_sort(ranked, std::ranges::greater(), &decltype(ranked)::value_type::second);
  const ClassRows rows(found, spread.max);
  for (std::size_t i = 0; i < extremes; ++i) text += rows.row(ranked[i].first, ranked[i].second);
  text += "  …\n";
  for (std::size_t i = ranked.size() - extremes; i < ranked.size(); ++i) {
    text += rows.row(ranked[i].first, ranked[i].second);
  }
  return text;
}

std::string class_counts_text(const Inspection& found) {
  const bool guessed = found.counted == Inspection::Source::some;
  const std::string space = found.info.sidecar ? found.info.sidecar->label_space : "0-based";
  std::string head =
      fmt::format("{}{}, labels {}, ", guessed && found.info.classes == 0 ? "at least " : "",
                  grouped(found.classes), harmless(space));
  head += found.counted == Inspection::Source::sidecar ? "counted in feedrate.json"
          : guessed ? "counted in " + looked_at(found) + " (--all counts every one)"
                    : "counted in " + looked_at(found);
  std::string text = line("classes", head);
  std::vector<std::uint64_t> counts;
  for (const auto& [label, count] : found.class_counts) counts.push_back(count);
  const auto empty = static_cast<std::uint64_t>(std::ranges::count(counts, 0U));
  const Quantiles spread = quantiles(counts);
  if (const std::string balance = balance_text(found, counts, spread); !balance.empty()) {
    text += line("", balance);
  }
  if (counts.size() > max_rows) {
    text += many_classes(found, counts, spread);
  } else {
    const ClassRows rows(found, spread.max);
    for (const auto& [label, count] : found.class_counts) text += rows.row(label, count);
  }
  if (empty != 0) {
    text += fmt::format("  {} without {}\n", counted(empty, "label"),
                        guessed ? "a sample among those examined" : "a sample");
  }
  return text;
}

std::string sizes_row(std::string_view title, const Quantiles& of,
                      std::string (*text_of)(std::uint64_t)) {
  std::string text = fitted(title, title_columns);
  for (const std::uint64_t value : {of.min, of.low, of.median, of.high, of.max}) {
    const std::string number = text_of(value);
    text += std::string(12 - std::min<std::size_t>(columns_of(number), 11), ' ') + number;
  }
  return text + "\n";
}

std::string sizes_text(const Inspection& found) {
  const Survey& survey = found.survey;
  std::string text = line("examined", looked_at(found));
  if (survey.unreadable != 0) {
    text +=
        line("damaged", fmt::format("{} of them; the first: {} ('feedrate verify' names all)",
                                    grouped(survey.unreadable), harmless(survey.first_unreadable)));
  }
  if (survey.samples.empty()) return text;
  std::string codecs;
  for (const auto& [name, count] : survey.codecs) {
    codecs += fmt::format("{}{} {}", codecs.empty() ? "" : ", ", grouped(count), name);
  }
  const std::uint64_t colour = survey.samples.size() - survey.grey;
  text += line("codecs", fmt::format("{}; {} in colour, {} grey", codecs, grouped(colour),
                                     grouped(survey.grey)));
  text += fmt::format("{}{:>12}{:>12}{:>12}{:>12}{:>12}\n", fitted("sizes", title_columns), "min",
                      "5 %", "median", "95 %", "max");
  text += sizes_row("  height", survey.heights, grouped);
  text += sizes_row("  width", survey.widths, grouped);
  text += sizes_row("  bytes", survey.bytes, grouped);
  return text;
}

std::string samples_text(const Inspection& found) {
  std::string text;
  for (const Inspection::First& one : found.first) {
    const std::string name = name_of(found, one.label);
    if (!one.damage.empty()) {
      text += line(fmt::format("{:>8}", one.index), "damaged: " + harmless(one.damage));
      continue;
    }
    const std::string row =
        fmt::format("{:>8} label {}{}, {}, {}{}", one.index, one.label,
                    name.empty() ? "" : " " + name, shape_text(one.shape), bytes_text(one.bytes),
                    one.name.empty() ? "" : ", " + harmless(one.name));
    text += columns_of(row) > screen ? fitted(row, screen) : row;
    text += '\n';
  }
  return text;
}

}  // namespace

std::string inspection_text(const Inspection& found) {
  std::string text = line("path", harmless(shown_path(found.info.path)));
  text += line("format", found.info.format + " × " + found.info.codec);
  text += line("images", images_text(found));
  text += fitted("files", title_columns) + files_text(found);
  if (found.info.sidecar) text += sidecar_text(found.info);
  for (const std::string& note : found.info.notes) text += line("note", harmless(note));
  return text + class_counts_text(found) + sizes_text(found) + samples_text(found);
}

}  // namespace feedrate::tools
