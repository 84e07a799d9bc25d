#pragma once
// How far a conversion has come, kept in its partial directory so that `--resume` can go on after a
// kill, a full disk or a power cut; and, of a finished part, what `--join` puts together.
//
//   progress.json  counts, file sizes, the options that made them
//   progress.bin   a sample: the 16-byte digest of its stored bytes, the SHA-256 of its pixels

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "converters/convert.h"
#include "formats/dataset.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {

/// Of the samples read so far.
struct Tally {
  std::uint64_t read = 0;     // samples taken from the source, those left out included
  std::uint64_t written = 0;  // samples added to the dataset
  std::uint64_t bytes = 0;    // their encoded bytes
  std::uint64_t mended = 0;   // samples that `--fix reencode` encoded anew
  bool same_shape = true;
  bool decoded = true;   // pixels of every sample were seen: digests and sums are of all of them
  formats::Shape shape;  // of the first sample
  std::string codec;     // of all samples; "mixed" where they differ
  std::vector<std::uint64_t> class_counts;
  std::vector<std::uint64_t> sums;  // per pixel over all images; empty when no mean is wanted
  std::vector<Skipped> skipped;
  std::vector<formats::StoredDigest> stored;  // of each sample written, in order
  std::vector<formats::Sha256> pixels;        // sample_digest of each, zero where not decoded
  formats::WriterState writer;

  /// Adds what another part, that follows this one, has seen.
  void append(const Tally& next);
  /// Exact: integer sums divided once. Nothing where not every image was seen or shapes differ.
  std::optional<formats::MeanImage> mean() const;
};

/// The journal in a directory. One thread.
class Journal {
 public:
  /// `purpose`: the options that shape the result, one a line ("--shuffle 7"), and the inputs.
  /// `directory` outlives the journal.
  Journal(formats::PartialDirectory& directory, std::vector<std::string> purpose);
  ~Journal();

  /// What an earlier run noted; nothing when it came to note nothing. Throws Error when that run
  /// had another purpose (naming the line that differs) or the journal is damaged.
  std::optional<Tally> load();
  /// Brings everything to disk, then notes how far things are: whoever reads it after a crash sees
  /// this or the note before. From now on the directory stays when the conversion fails.
  void save(const Tally& tally);
  void remove();

 private:
  formats::PartialDirectory& directory_;
  std::vector<std::string> purpose_;
  std::unique_ptr<formats::OutputFile> digests_;
  std::uint64_t saved_ = 0;  // samples whose digests are in the file
};

/// The journal of a finished part with the purpose it was made for.
struct FinishedPart {
  Tally tally;
  std::vector<std::string> purpose;
};
FinishedPart read_journal(const std::filesystem::path& directory);
/// True for the names of the journal's own files.
bool is_journal(std::string_view file_name);

}  // namespace feedrate::converters
