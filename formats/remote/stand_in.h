#pragma once
// A directory of this machine that stands in for one of a server: an empty file of the same name and size
// for each object, whose bytes come late.

#include <filesystem>
#include <memory>
#include <vector>

#include "formats/base/shown_path.h"
#include "formats/io/file.h"
#include "formats/io/late_bytes.h"
#include "formats/remote/origin.h"
#include "formats/remote/settings.h"

namespace feedrate::formats {

class RemoteObject;

/// Removed when it is destroyed. A process that is killed leaves its own, which a later one removes.
class StandIn {
 public:
  StandIn(const std::shared_ptr<const Origin>& origin, const std::vector<RemoteFile>& files,
          const RemoteSettings& settings);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  /// Where the objects' files are. Messages name the server in its place.
  const std::filesystem::path& directory() const { return directory_; }
  /// Throws Error when bytes of a file could not be had. For whoever opens a dataset: readers take what they
  /// cannot look at for something else.
  void expect_had() const;
  /// Drops what was asked for and is not held, of all files. Any thread.
  void let_go() const;

 private:
  void make_place();
  void add(const std::shared_ptr<const Origin>& origin, const RemoteFile& file,
           const RemoteSettings& settings);

  std::filesystem::path place_;      // of this process alone
  std::filesystem::path directory_;  // in it, with the name of the server's
  Descriptor lock_;
  int process_;  // that made it
  std::unique_ptr<ShownAs> name_;
  std::vector<std::shared_ptr<RemoteObject>> objects_;
  std::vector<std::unique_ptr<LateFile>> files_;
};

}  // namespace feedrate::formats
