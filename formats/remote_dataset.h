#pragma once
// Datasets of web servers and of S3: opened by a URL, read like those of this machine.

#include <filesystem>
#include <memory>
#include <string_view>

#include "formats/dataset.h"
#include "formats/remote/settings.h"

namespace feedrate::formats {

/// Files of this machine that stand in for a URL's dataset while this lives: for what opens it by a path.
struct UrlFiles {
  std::shared_ptr<const StandIn> stand_in;
  std::filesystem::path path;
};
UrlFiles files_of_url(std::string_view url, const RemoteSettings& settings = remote_settings());

/// Opens the dataset that a URL names: a directory, a file, one of several shards, or a pattern of tars.
/// Bytes of samples come when read() needs them, or earlier where look_ahead() asked for them. Throws Error
/// that names the URL without its secrets.
std::unique_ptr<Dataset> open_url(std::string_view url,
                                  const RemoteSettings& settings = remote_settings());

/// open_dataset() of a path or a URL, with these settings in place of the process's.
std::unique_ptr<Dataset> open_dataset(const std::filesystem::path& path,
                                      const RemoteSettings& settings);

}  // namespace feedrate::formats
