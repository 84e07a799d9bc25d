#pragma once
// The file to which one bench at a time appends rows, as whole lines.

#include <filesystem>
#include <vector>

#include "formats/io/file.h"
#include "tools/lab/measure/row.h"

namespace feedrate::tools {

enum class Existing : std::uint8_t { refuse, resume };

class ResultsFile {
 public:
  /// Opens or creates the file and locks it. Throws Error when another bench holds it, when it has
  /// rows and `existing` refuses them, or when a row is malformed. Cuts off an unfinished last line
  /// that a killed bench left.
  ResultsFile(const std::filesystem::path& path, Existing existing);
  /// Removes the file when this object created it and no row was added.
  ~ResultsFile();
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  /// Rows that the file held when it was opened.
  const std::vector<Row>& rows() const { return rows_; }
  /// Appends a row in one write and syncs it. Throws Error when that fails.
  void add(const Row& row);

 private:
  std::filesystem::path path_;
  formats::Descriptor file_;  // locked while open
  std::vector<Row> rows_;
  bool created_empty_ = false;  // created here, without a row yet
};

}  // namespace feedrate::tools
