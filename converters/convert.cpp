#include "converters/convert.h"

#include <chrono>
#include <future>

#include "converters/pipeline/describe_conversion.h"
#include "converters/pipeline/join.h"
#include "converters/pipeline/pipeline.h"
#include "converters/pipeline/selection.h"
#include "formats/base/error.h"
#include "formats/base/lost_pages.h"
#include "formats/base/without_slash.h"
#include "formats/containers/folder/class_directories.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string accepted_codecs(const Container& container) {
  std::string accepted;
  for (const Codec* codec : codecs()) {
    if (container.accepts(*codec)) accepted += join(accepted.empty() ? "" : ", ", codec->name());
  }
  return accepted;
}

// The encoding to write. By default a source that is already encoded stays as it is.
Encoding encoding_for(const Container& container, const StreamInfo& info,
                      const ConvertOptions& options) {
  if (options.encoding) return *options.encoding;
  if (info.codec != &raw_codec || container.accepts(raw_codec)) return {};
  return {&container.default_codec(), 0};
}

// A split's name becomes part of the names of files. One from a sidecar may have been made to lead elsewhere.
void check_split(std::string_view split) {
  if (is_plain_name(split)) return;
  throw Error(join("expected a split whose name can be that of a file, found '", split, "'"));
}

void check(const ConvertTarget& target, const ConvertOptions& options) {
  const Container& container = target.container;
  const Codec* codec = options.encoding ? options.encoding->codec : nullptr;
  if (codec != nullptr && !container.accepts(*codec)) {
    throw Error(join(container.name(), " does not hold ", codec->name(), " images; it holds ",
                     accepted_codecs(container)));
  }
  const auto& [number, count] = options.part;
  if ((options.shards > 1 || count > 1) && !container.shardable()) {
    throw Error(join(container.name(), " is not written in shards"));
  }
  if (number < 1 || number > count) {
    throw Error(join("there is no part ", number, " of ", count, "; parts are 1 to ", count));
  }
  if (count > options.shards) {
    throw Error(join(count, " parts need at least ", count, " shards, not ", options.shards));
  }
  if (count > 1 && options.on_bad == OnBad::skip) {
    throw Error("a part cannot skip bad samples: the other parts would not know");
  }
  if (options.gzip && !container.compressible()) {
    throw Error(join(container.name(), " files are not compressed as a whole"));
  }
  check_split(target.split);
}

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // 0: the stream's end
};

class ConversionRun {
 public:
  ConversionRun(std::unique_ptr<SampleStream> stream, const ConvertTarget& target,
                const ConvertOptions& options)
      : stream_(
            std::move(stream),
            {.shuffle = options.shuffle, .limit = options.limit, .counted = options.shards > 1}),
        target_(target),
        options_(options),
        encoding_(encoding_for(target.container, stream_.info(), options)) {
    sharding_ = {.count = options.shards, .samples = stream_.size()};
    if (options.shards > 1 && stream_.size() < options.shards) {
      throw Error(join(stream_.size(), " samples cannot fill ", options.shards, " shards"));
    }
    if (options.part.count > 1) {
      const auto shard = [&](std::uint32_t part) {
        return static_cast<std::uint32_t>(std::uint64_t{options.shards} * part /
                                          options.part.count);
      };
      range_ = {sharding_.begin(shard(options.part.number - 1)),
                sharding_.begin(shard(options.part.number))};
    }
  }

  const StreamInfo& info() const { return stream_.info(); }

  Tally execute(const fs::path& directory, Tally tally, DigestSink digested,
                std::function<void(const Tally&)> save) {
    WriterOptions settings{.split = target_.split,
                           .codec = encoding_.keeps() ? stream_.info().codec : encoding_.codec,
                           .classes = stream_.info().class_names,
                           .sharding = sharding_,
                           .first = range_.begin,
                           .last = range_.end,
                           .gzip = options_.gzip};
    const WriterState resumed = tally.writer;
    if (tally.read != 0) settings.resume = &resumed;
    const auto writer = target_.container.create(directory, settings);
    stream_.start_at(range_.begin + tally.read);
    // Shards may be written by several machines, none of which sees all images: no mean image.
    run_pipeline(stream_, *writer,
                 {.container = target_.container,
                  .settings = options_,
                  .encoding = encoding_,
                  .wants_mean = target_.container.wants_mean() && options_.shards == 1,
                  .begin = range_.begin,
                  .end = range_.end,
                  .digested = std::move(digested),
                  .save = std::move(save)},
                 tally);
    check_count(tally);
    const std::optional<MeanImage> mean = tally.mean();
    tally.writer = writer->pause();
    writer->finish(mean ? &*mean : nullptr);
    return tally;
  }

 private:
  void check_count(const Tally& tally) const {
    const std::uint64_t promised =
        range_.end != 0 ? range_.end - range_.begin : stream_.size() - range_.begin;
    if (stream_.size() != 0 && tally.read != promised) {
      throw Error(join("the source promised ", promised, " samples and gave ", tally.read));
    }
    if (tally.read == 0) throw Error("the source holds no samples");
    if (tally.written == 0) {
      throw Error(join("every sample is bad; the first: ", tally.skipped.front().text()));
    }
  }

  SelectedStream stream_;
  const ConvertTarget& target_;
  const ConvertOptions& options_;
  Encoding encoding_;
  Sharding sharding_;
  Range range_;
};

// A part's inputs, hashed only where join_parts() takes the hashes from.
std::vector<Sidecar::Input> inputs_of(const Source& source, std::span<const fs::path> inputs,
                                      const std::string& split, const ConversionPart& part) {
  if (part.number == 1) return source.inputs(inputs, split);
  std::vector<Sidecar::Input> list;
  for (const fs::path& file : source.files(inputs, split)) {
    const std::uint64_t bytes = fs::is_regular_file(file) ? fs::file_size(file) : 0;
    list.push_back({.name = file.filename().string(), .bytes = bytes, .hash = {}});
  }
  return list;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::optional<Conversion> finished_part(const fs::path& directory,
                                        const std::vector<std::string>& purpose) {
  if (!fs::exists(directory)) return std::nullopt;
  const FinishedPart part = read_journal(directory);
  remove_mark(directory);
  // Times may differ: each machine may have its own copy of the archives.
  if (const auto lines = first_difference(common_purpose(part.purpose), common_purpose(purpose))) {
    fail(directory, "was made with '", lines->first, "', now it is '", lines->second, "'");
  }
  RunningDigest digests(directory);
  read_digests(directory, part.tally.written,
               [&](const SampleDigests& sample) { digests.add(sample); });
  Conversion conversion = result_of(part.tally, digests.finish());
  conversion.earlier = true;
  conversion.resumed_at = conversion.samples;
  return conversion;
}

}  // namespace

Conversion convert(std::unique_ptr<SampleStream> stream, const ConvertTarget& target,
                   const ConvertOptions& options) {
  const auto start = Clock::now();
  check(target, options);
  ConversionRun run(std::move(stream), target, options);
  RunningDigest digests(target.path);
  const Tally tally =
      run.execute(target.path, {}, [&](const SampleDigests& sample) { digests.add(sample); }, {});
  Conversion conversion = result_of(tally, digests.finish());
  conversion.seconds = seconds_since(start);
  return conversion;
}

Conversion convert_dataset(const Source& source, std::span<const fs::path> inputs,
                           const ConvertTarget& target, const ConvertOptions& options) {
  const auto start = Clock::now();
  const std::uint64_t lost_before = lost_pages_so_far();  // of any file
  check(target, options);                                 // before anything is read or written
  ConversionRun run(source.open(inputs, target.split), target, options);
  const bool whole = options.part.count == 1;
  const auto stale =
      options.resume ? PartialDirectory::Stale::adopted : PartialDirectory::Stale::removed;
  PartialDirectory directory(whole ? target.path : part_path(target.path, options.part), stale);
  Journal journal(directory, purpose_of(source, inputs, target, options));
  // Killed before its first save: what it left may be of other inputs or options.
  if (directory.adopted() && !journal.exists()) directory.start_anew();
  RunningDigest digests(directory.path());
  const DigestSink digest = [&](const SampleDigests& sample) { digests.add(sample); };
  Tally earlier;
  if (directory.adopted()) earlier = journal.load(digest);
  // Hash while converting: both read the same files, so the second reader finds them in memory.
  auto hashes = std::async(std::launch::async,
                           [&] { return inputs_of(source, inputs, target.split, options.part); });

  const std::uint64_t resumed_at = earlier.written;
  Tally tally = run.execute(
      directory.path(), std::move(earlier),
      [&](const SampleDigests& sample) {
        digest(sample);
        journal.add(sample);
      },
      [&](const Tally& now) { journal.save(now); });
  Conversion conversion = result_of(tally, digests.finish());
  conversion.resumed_at = resumed_at;
  conversion.checked = options.check;
  Sidecar sidecar = describe(source, target, options, run.info());
  complete(sidecar, tally, conversion);
  if (whole) {
    complete_whole(sidecar, conversion);
    add_crop_index(directory.path(), sidecar, options.threads, options.progress);
  }
  const StreamInfo& info = run.info();
  conversion.notes.insert(conversion.notes.begin(),
                          info.notes.begin() + static_cast<std::ptrdiff_t>(info.earlier_notes),
                          info.notes.end());
  sidecar.files = files_beside(directory.path());
  directory.sync();  // while the hashes are still being computed
  sidecar.inputs = hashes.get();
  if (const std::string lost = lost_pages_of_process(lost_before); !lost.empty()) throw Error(lost);
  write_sidecar(directory.path(), sidecar);
  if (whole) {
    journal.remove();  // first: where a file is gone, the next run starts over
    if (resumed_at != 0) expect_described(directory.path(), sidecar);
  } else {
    tally.seconds += seconds_since(start);
    tally.files = files_of_part(directory.path());
    journal.save(tally);
  }
  directory.commit();
  conversion.seconds = seconds_since(start);
  return conversion;
}

std::optional<Conversion> finished_conversion(const Source& source,
                                              std::span<const fs::path> inputs,
                                              const ConvertTarget& target,
                                              const ConvertOptions& options) {
  const fs::path& out = target.path;
  if (options.part.count > 1) {
    return finished_part(part_path(out, options.part), purpose_of(source, inputs, target, options));
  }
  if (!fs::exists(out)) return std::nullopt;
  const std::optional<Sidecar> found = read_sidecar(out);
  if (!found) fail(out, "exists already, and has no ", sidecar_name, " that says what it is");
  Sidecar wanted = describe(source, target, options, {});
  wanted.inputs = source.inputs(inputs, target.split);
  if (const std::string other = difference(*found, wanted); !other.empty()) {
    fail(out, "exists already and ", other);
  }
  remove_mark(out);
  remove_joined_parts(out);
  return result_of(*found);
}

std::string Skipped::text() const {
  const std::string sample = join("sample ", position);
  if (reason.find(sample + ": ") != std::string::npos) return reason;
  return join(sample, name.empty() ? "" : join(" (", name, ")"), ": ", reason);
}

fs::path part_path(const fs::path& out, const ConversionPart& part) {
  fs::path path = without_slash(out);
  path += join(".part-", part.number, "-of-", part.count);
  return path;
}

}  // namespace feedrate::converters
