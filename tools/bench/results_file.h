#pragma once
// The file that a bench adds rows to: whole lines only, by one bench at a time.

#include <filesystem>
#include <vector>

#include "formats/io/file.h"
#include "tools/measure/row.h"

namespace feedrate::tools {

enum class Existing : std::uint8_t { refuse, resume };

class ResultsFile {
 public:
  /// Takes the file for this process. Throws Error when another bench holds it, when it has rows
  /// and `existing` refuses them, or when a row in it is malformed. A last line that a killed bench
  /// left unfinished is cut off.
  ResultsFile(const std::filesystem::path& path, Existing existing);
  /// A file that it made and added nothing to is removed.
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  /// Rows that were there at the start.
  const std::vector<Run>& rows() const { return rows_; }
  /// One write, then to the disk.
  void add(const Run& run);

 private:
  std::filesystem::path path_;
  formats::Descriptor file_;  // locked as long as it is open
  std::vector<Run> rows_;
  bool made_for_nothing_ = false;
};

}  // namespace feedrate::tools
