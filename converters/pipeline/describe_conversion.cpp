#include "converters/pipeline/describe_conversion.h"

#include <algorithm>
#include <numeric>

#include "formats/base/cores.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/without_slash.h"
#include "formats/container.h"
#include "formats/crops/crop_index.h"
#include "formats/digests/digest.h"
#include "formats/digests/file_probe.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::string_view crops_option = "--crops";

namespace fs = std::filesystem;

constexpr std::size_t names_listed = 20;  // samples left out that get a note of their own

// The options that determine samples and files, as on the command line.
std::vector<std::string> shaping_options(const ConvertOptions& options) {
  std::vector<std::string> list;
  if (options.encoding) list.push_back("--encode " + options.encoding->name());
  if (options.resize) list.push_back("--resize " + options.resize->name());
  if (options.shuffle) list.push_back(join("--shuffle ", *options.shuffle));
  if (options.limit != 0) list.push_back(join("--limit ", options.limit));
  if (options.shards != 1) list.push_back(join("--shards ", options.shards));
  if (options.no_boxes) list.emplace_back("--no-boxes");
  if (options.one_label) list.emplace_back("--one-label");
  if (options.gzip) list.emplace_back("--gzip");
  if (options.crops) list.emplace_back(crops_option);
  if (options.fix == Fix::reencode) list.emplace_back("--fix reencode");
  if (options.on_bad == OnBad::skip) list.emplace_back("--on-bad skip");
  if (!options.check) list.emplace_back(no_check_option);
  return list;
}

fs::path name_of(const fs::path& input) { return without_slash(input).filename(); }

std::int64_t time_of(const fs::path& path) {
  std::error_code ignored;
  return fs::last_write_time(path, ignored).time_since_epoch().count();
}

std::string described(const fs::path& input) {
  std::error_code error;
  const bool file = fs::is_regular_file(input, error);
  return join("input ", name_of(input), ", ", file ? fs::file_size(input, error) : 0,
              " bytes like ", file ? file_probe(input) : 0, ", ", time_of(input));
}

// A line for a directory that is read as a whole: a dataset, or classes of images. The name, size
// and time of everything in it count, and a probe of the content where it holds few files.
std::string listed(const fs::path& directory) {
  DetailsDigest names, times;
  std::uint64_t entries = 0;
  constexpr std::size_t max_probed_files = 4096;
  std::vector<fs::path> files;
  std::error_code error, ignored;
  times.add(0, as_bytes(std::to_string(time_of(directory))));
  // Classes may be links. What cannot be opened is named, but must not end the list.
  constexpr auto how = fs::directory_options::follow_directory_symlink |
                       fs::directory_options::skip_permission_denied;
  fs::recursive_directory_iterator at(directory, how, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    ++entries;
    const std::string name = at->path().lexically_relative(directory).native();
    const bool file = at->is_regular_file(ignored);
    names.add(0, as_bytes(join(name, '\n', file ? at->file_size(ignored) : 0)));
    if (file && files.size() <= max_probed_files) files.push_back(at->path());
    times.add(0, as_bytes(join(name, '\n', time_of(at->path()))));
  }
  if (files.size() <= max_probed_files) {
    for (const fs::path& file : files)
      names.add(1, as_bytes(join(file.lexically_relative(directory).native(), file_probe(file))));
  }
  return join("input ", name_of(directory), ", ", entries, " entries with the digest ",
              names.text(), ", times ", times.text());
}

}  // namespace

Conversion result_of(const Tally& tally, const RunningDigest::Result& digests) {
  Conversion conversion;
  conversion.samples = tally.written;
  conversion.bytes = tally.bytes;
  conversion.shape = tally.same_shape ? tally.shape : Shape{};
  conversion.codec = tally.codec;
  conversion.digest = digests.pixels;
  conversion.bytes_digest = digests.stored;
  conversion.mended = tally.mended;
  conversion.skipped = tally.skipped;
  const auto tell = [&](std::uint64_t count, std::string_view one, std::string_view more,
                        std::string_view rest) {
    if (count != 0) conversion.notes.push_back(counted_as(count, one, more).append(rest));
  };
  tell(tally.lists_cut, "list of labels was", "lists of labels were", " cut to the class");
  tell(tally.boxes_left_out, "box was", "boxes were",
       " left out: without area, in other units than fractions of the sides, or no box");
  tell(tally.doubtful, "image is read, but", "images are read, but",
       " may be damaged: a strict decoder warns, and 'feedrate verify' names what it warns of");
  tell(tally.extras_damaged, "sample has", "samples have",
       " a damaged file beside the image, which was not read");
  return conversion;
}

Conversion result_of(const Sidecar& sidecar) {
  Conversion conversion;
  conversion.earlier = true;
  conversion.samples = conversion.resumed_at = sidecar.count;
  conversion.shape = sidecar.shape;
  conversion.codec = sidecar.codec;
  conversion.digest = {sidecar.digest, sidecar.set_digest};
  conversion.bytes_digest = sidecar.bytes_digest;
  return conversion;
}

Sidecar describe(const Source& source, const ConvertTarget& target, const ConvertOptions& options,
                 const StreamInfo& info) {
  Sidecar sidecar;
  sidecar.tool_version = FEEDRATE_VERSION;
  sidecar.source = info.origin.empty() ? source.name() : std::string_view(info.origin);
  sidecar.split = target.split;
  sidecar.format = target.container.name();
  sidecar.label_space = info.label_space;
  sidecar.classes = info.classes;
  sidecar.class_names = info.class_names;
  sidecar.options = shaping_options(options);
  sidecar.notes = info.notes;
  return sidecar;
}

std::string difference(const Sidecar& found, const Sidecar& wanted) {
  const auto lines_of = [](const Sidecar& sidecar) {
    std::vector<std::string> list{"split " + sidecar.split, "--to " + sidecar.format};
    list.insert(list.end(), sidecar.options.begin(), sidecar.options.end());
    for (const Sidecar::Input& input : sidecar.inputs) {
      list.push_back(join("input ", input.name, ", ", input.bytes, " bytes, ", input.hash));
    }
    return list;
  };
  const std::vector<std::string> has = lines_of(found), needs = lines_of(wanted);
  const auto lines = first_difference(has, needs);
  return lines ? join("has '", lines->first, "', not '", lines->second, "'") : "";
}

void complete(Sidecar& sidecar, const Tally& tally, const Conversion& conversion) {
  sidecar.codec = conversion.codec;
  sidecar.count = conversion.samples;
  sidecar.shape = conversion.shape;
  sidecar.class_counts = tally.class_counts;
  sidecar.digest = conversion.digest.digest;
  sidecar.set_digest = conversion.digest.set_digest;
  sidecar.bytes_digest = conversion.bytes_digest;
  sidecar.details_digest = tally.details.text();
}

void complete_whole(Sidecar& sidecar, const Conversion& conversion) {
  // Negative and very large labels are not counted.
  const auto counted =
      std::accumulate(sidecar.class_counts.begin(), sidecar.class_counts.end(), std::uint64_t{0});
  if (sidecar.classes == 0 && counted == sidecar.count) {
    sidecar.classes = static_cast<std::uint32_t>(sidecar.class_counts.size());
  }
  if (conversion.mended != 0) {
    sidecar.notes.push_back(
        join(conversion.mended, " CMYK or misnamed images were encoded anew as RGB JPEG"));
  }
  for (const std::string& note : conversion.notes) sidecar.notes.push_back(note);
  for (std::size_t i = 0; i < conversion.skipped.size() && i < names_listed; ++i) {
    sidecar.notes.push_back(join("left out: ", conversion.skipped[i].text()));
  }
  if (conversion.skipped.size() > names_listed) {
    sidecar.notes.push_back(join("left out: ", conversion.skipped.size() - names_listed, " more"));
  }
}

void expect_described(const fs::path& directory, const Sidecar& sidecar) {
  const auto dataset = container(sidecar.format).open(directory);
  const bool file_for_each = dataset->info().files.empty();
  const std::uint64_t found = file_for_each ? sample_files(*dataset).size() : dataset->size();
  if (found == sidecar.count) return;
  fail(directory, "expected ", sidecar.count, " samples, found ", found,
       ": something has removed files between the runs that made them");
}

void add_crop_index(const std::filesystem::path& directory, Sidecar& sidecar, unsigned threads,
                    const ProgressCallback& progress) {
  if (std::ranges::find(sidecar.options, crops_option) == sidecar.options.end()) return;
  try {
    make_crop_index(*container(sidecar.format).open(directory), crop_index_file(directory),
                    threads == 0 ? usable_cores() : threads, progress);
  } catch (const NothingToIndex&) {
    sidecar.notes.emplace_back("no crop index: it holds no baseline JPEG that is large enough");
  }
}

std::vector<std::string> purpose_of(const Source& source, std::span<const fs::path> inputs,
                                    const ConvertTarget& target, const ConvertOptions& options) {
  std::vector<std::string> purpose{join("version ", FEEDRATE_VERSION),
                                   join("source ", source.name()), join("split ", target.split),
                                   join("--to ", target.container.name())};
  for (const std::string& option : shaping_options(options)) purpose.push_back(option);
  if (options.part.count > 1) {
    purpose.push_back(join("--part ", options.part.number, "/", options.part.count));
  }
  if (std::string identity = source.identity(inputs); !identity.empty()) {
    purpose.push_back(std::move(identity));
    return purpose;
  }
  const std::vector<fs::path> files = source.files(inputs, target.split);
  std::error_code ignored;
  // A directory in which files are looked for may get others, such as those of this conversion.
  for (const fs::path& input : inputs) {
    const bool own = std::ranges::find(files, input) != files.end();
    if (!own && !fs::is_directory(input, ignored)) purpose.push_back(described(input));
  }
  for (const fs::path& file : files) {
    purpose.push_back(fs::is_directory(file, ignored) ? listed(file) : described(file));
  }
  return purpose;
}

std::vector<std::string> common_purpose(const std::vector<std::string>& purpose) {
  std::vector<std::string> common;
  for (const std::string& line : purpose) {
    if (line.starts_with("--part ")) continue;
    const bool input = line.starts_with("input ");
    common.push_back(input ? line.substr(0, line.rfind(',')) : line);
  }
  return common;
}

}  // namespace feedrate::converters
