#include "formats/remote_dataset.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/base/error.h"
#include "formats/container.h"
#include "formats/containers/braces.h"
#include "formats/containers/shards.h"
#include "formats/containers/wishes.h"
#include "formats/means/mean_format.h"
#include "formats/remote/origin.h"
#include "formats/remote/stand_in.h"
#include "formats/sidecar.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t most_shards = 100'000;

// The files of the dataset that `file`, or the files of a pattern, belong to.
std::vector<std::string> files_of(const std::string& file) {
  if (file.find('{') != std::string::npos) return expand_braces(file);
  std::optional<ShardName> shard = parse_shard_name(file);
  if (!shard || shard->count > most_shards) return {file};
  std::vector<std::string> names;
  for (shard->shard = 0; shard->shard < shard->count; ++shard->shard)
    names.push_back(shard->text());
  return names;
}

// What readers look for beside a file, where a server does not list what there is.
std::vector<std::string> names_to_ask_for(const std::string& file) {
  std::set<std::string> names = {std::string(sidecar_name), "feedrate.crops", "labels.txt",
                                 "index.json"};
  for (const MeanFormat* const format : mean_formats()) {
    names.insert(join("mean", format->extension()));
  }
  for (const std::string& each : files_of(file)) {
    names.insert({each, each + ".idx", each + ".crops", each.substr(0, each.find('.')) + ".idx",
                  fs::path(each).replace_extension(".idx"),
                  fs::path(each).replace_extension(".lst")});
  }
  return {names.begin(), names.end()};
}

Listing listing_of(const RemotePlace& place) {
  const Origin& origin = *place.origin;
  const bool lists = place.file.empty() || origin.lists_cheaply();
  Listing listing =
      lists ? origin.list() : Listing{find_all(origin, names_to_ask_for(place.file)), {}};
  const bool is_file = !place.file.empty() && place.file.find('{') == std::string::npos;
  if (is_file &&
      std::ranges::find(listing.files, place.file, &RemoteFile::name) == listing.files.end()) {
    fail(origin.shown() + place.file, origin.absence(place.file));
  }
  if (!place.file.empty()) listing.directories.clear();
  if (listing.files.empty() && listing.directories.empty()) {
    fail(origin.shown() + place.file, "there are no objects here");
  }
  return listing;
}

// Directories beside no dataset are the classes of a folder, or hold datasets.
void expect_no_folder(const UrlFiles& files, const std::vector<std::string>& directories) {
  const fs::path& path = files.path;
  const auto knows = [&](const Container* row) { return row->knows(path); };
  if (directories.empty() || std::ranges::any_of(all_containers(), knows)) return;
  files.stand_in->expect_had();
  constexpr std::size_t most_shown = 3;
  std::string some;
  for (std::size_t i = 0; i < std::min(most_shown, directories.size()); ++i)
    some += join(i == 0 ? "" : ", ", directories[i]);
  fail(path, "holds no dataset, but directories (", some,
       directories.size() > most_shown ? join(", … ", directories.size(), " in all") : "",
       "): name one that holds a dataset; a folder of images by class is not read from a server, "
       "where each image is an object to find: copy it here, and 'feedrate convert dataset' makes "
       "recordio of it, which is");
}

}  // namespace

UrlFiles files_of_url(std::string_view url, const RemoteSettings& settings) {
  const auto [address, wishes] = split_url_wishes(url);
  const RemotePlace place = locate_url(address, settings);
  const Listing listing = listing_of(place);
  UrlFiles files{std::make_shared<const StandIn>(place.origin, listing.files, settings), {}};
  files.path = files.stand_in->directory();
  if (!place.file.empty()) files.path /= place.file;
  expect_no_folder(files, listing.directories);
  files.path += wishes;
  return files;
}

namespace {

std::unique_ptr<Dataset> open_ranges(const fs::path& path) {
  const Container& row = container_at(path);
  if (!row.reads_ranges()) {
    fail(path, "is a dataset of the format ", row.name(),
         ", which is read from files of this machine alone: its samples are not ranges of a few "
         "large "
         "files; copy it here first, or convert it to recordio");
  }
  return row.open(path);
}

}  // namespace

std::unique_ptr<Dataset> open_url(std::string_view url, const RemoteSettings& settings) {
  auto [stand_in, path] = files_of_url(url, settings);
  std::unique_ptr<Dataset> dataset;
  try {
    dataset = open_ranges(path);
  } catch (const Error&) {
    stand_in->expect_had();  // that was why
    throw;
  }
  stand_in->expect_had();
  dataset->keep(std::move(stand_in));
  return dataset;
}

}  // namespace feedrate::formats
