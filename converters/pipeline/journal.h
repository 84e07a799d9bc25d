#pragma once
// The progress of a conversion, kept in its partial directory so that `--resume` can continue after
// a kill, a full disk or a power cut. In a finished part, it is what `--join` needs.
//
//   progress.json  counts, file sizes and the options of the conversion
//   progress.bin   for each sample: 16-byte digest of its stored bytes, SHA-256 of its pixels; ahead
//                  of the counts while samples are being written

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "converters/convert.h"
#include "formats/dataset.h"
#include "formats/digests/running_digest.h"
#include "formats/io/file.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {

/// Counts of the samples read so far.
struct Tally {
  std::uint64_t read = 0;            // samples read from the source, including those left out
  std::uint64_t written = 0;         // samples added to the dataset
  std::uint64_t bytes = 0;           // their encoded bytes
  double seconds = 0;                // that a finished part took, without the runs that were killed
  std::uint64_t mended = 0;          // samples that `--fix reencode` re-encoded
  std::uint64_t doubtful = 0;        // samples that are read, but of which a strict decoder warns
  std::uint64_t lists_cut = 0;       // samples of which only the class was kept
  std::uint64_t boxes_left_out = 0;  // stated boxes that are none
  std::uint64_t extras_damaged = 0;  // samples with a damaged file beside the image
  bool same_shape = true;
  bool decoded = true;   // every sample was decoded: `sums` are complete
  formats::Shape shape;  // of the first sample
  std::string codec;     // of all samples; "mixed" if they differ
  std::vector<std::uint64_t> class_counts;
  std::vector<std::uint64_t> sums;  // per pixel value over all images; empty if no mean is wanted
  std::vector<Skipped> skipped;
  formats::DetailsDigest details;  // of Writer::details
  formats::WriterState writer;
  /// The files of a finished part without the journal, and their sizes.
  std::vector<std::pair<std::string, std::uint64_t>> files;

  /// Adds the tally of the part that follows this one.
  void append(const Tally& next);
  /// Exact: integer sums divided once. Nothing if not every image was decoded or shapes differ.
  std::optional<formats::MeanImage> mean() const;
};

/// Where two lists of lines first differ: the line of each, "nothing" beyond the end of the shorter
/// list. Absent if the lists are equal.
std::optional<std::pair<std::string, std::string>> first_difference(
    const std::vector<std::string>& one, const std::vector<std::string>& other);

/// Takes the digests of each sample written, in order.
using DigestSink = std::function<void(const formats::SampleDigests&)>;

/// The journal in a directory. For one thread. Its memory does not grow with the samples.
class Journal {
 public:
  /// `purpose`: lines of purpose_of(), such as "--shuffle 7". `directory` must outlive the journal.
  Journal(formats::PartialDirectory& directory, std::vector<std::string> purpose);
  ~Journal();

  /// True if an earlier run saved its progress.
  bool exists() const;
  /// The tally that it saved last, after passing the digests of its samples to `each`. Throws Error
  /// if it had another purpose (naming the line that differs) or the journal is damaged.
  Tally load(const DigestSink& each);
  /// The next sample written.
  void add(const formats::SampleDigests& sample);
  /// Syncs everything to disk, then writes the tally of the samples added: after a crash the journal
  /// holds this tally or the one before. From then on the directory is kept if the conversion fails.
  void save(const Tally& tally);
  void remove();

 private:
  formats::PartialDirectory& directory_;
  std::vector<std::string> purpose_;
  std::unique_ptr<formats::OutputFile> digests_;
};

/// The journal of a finished part, without the digests of its samples.
struct FinishedPart {
  Tally tally;
  std::vector<std::string> purpose;
};
FinishedPart read_journal(const std::filesystem::path& directory);
/// Passes the digests of its first `written` samples to `each`.
void read_digests(const std::filesystem::path& directory, std::uint64_t written,
                  const DigestSink& each);
/// The counts of a journal; an empty tally if it was never saved.
Tally read_journal_counts(const std::filesystem::path& directory);
/// True for the names of the journal's own files.
bool is_journal(std::string_view file_name);
/// The files of a part, for Tally::files.
std::vector<std::pair<std::string, std::uint64_t>> files_of_part(
    const std::filesystem::path& directory);

}  // namespace feedrate::converters
