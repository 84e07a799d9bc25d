#pragma once
// How fast devices train that are not here, as others have published it. Values.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::tools {

struct PublishedRate {
  std::string device = {};       // "H100"; names are compared without case
  std::string network = {};      // as `feedrate list networks` names it
  std::string precision = {};    // as published: "mixed"; empty where the source does not say
  unsigned devices = 1;          // that trained together
  std::uint32_t batch = 0;       // of each; 0 where the source does not say
  double images_per_second = 0;  // of all together
  std::string date = {};         // of the publication: "2024-09"
  std::string source = {};       // who published it, and where
};

/// Those that we know, each with its source.
std::span<const PublishedRate> published_rates();

/// A user's own: a JSON list of objects with these keys. Throws Error naming the file and the entry.
std::vector<PublishedRate> read_rates(const std::filesystem::path& file);
/// The published ones, and those of `file` for its devices in their place; "": no file.
std::vector<PublishedRate> known_rates(const std::filesystem::path& file);
/// What the option says that names such a file.
inline constexpr const char* published_or_own_rates =
    "JSON file of your own device rates";

/// A device's name in small letters, as names are compared.
std::string device_key(std::string_view name);
/// Their devices, each name once, in small letters.
std::vector<std::string> device_names(std::span<const PublishedRate> rates);
/// A warning where a rate is older than the schema of our rows, or of no known date; else "".
std::string age_warning(const PublishedRate& rate);

/// "NVIDIA DeepLearningExamples, …, 2021-03: mixed, batches of 256"
std::string origin_text(const PublishedRate& rate);

}  // namespace feedrate::tools
