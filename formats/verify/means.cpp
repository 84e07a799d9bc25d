#include <algorithm>
#include <cctype>

#include "formats/base/error.h"
#include "formats/means/mean_format.h"
#include "formats/verify/checks.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// Checks the name first: a directory may hold any number of other XML files.
bool may_be_mean(const fs::path& file) {
  std::string name = file.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("mean") != std::string::npos;
}

std::vector<fs::path> mean_files(const fs::path& dataset) {
  std::error_code ignored;
  const fs::path directory = fs::is_directory(dataset, ignored) ? dataset : dataset.parent_path();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (may_be_mean(entry.path()) && entry.is_regular_file(ignored) &&
        mean_format_of(entry.path()) != nullptr) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text(const Shape& shape) {
  return join(shape.height, "x", shape.width, "x", shape.channels);
}

// When images have several sizes, users resize them to the mean's; a single size must agree.
std::string problem_of(const Shape& mean, const std::vector<Shape>& images) {
  const auto fits = [&](const Shape& shape) {
    return images.size() > 1 ? shape.channels <= mean.channels : shape == mean;
  };
  const auto other = std::find_if_not(images.begin(), images.end(), fits);
  if (other == images.end()) return {};
  return join("the mean is ", text(mean), ", images are ", text(*other));
}

}  // namespace

void check_means(const Dataset& dataset, Verification& result) {
  for (const fs::path& file : mean_files(dataset.info().path)) {
    try {
      const std::string problem = problem_of(read_mean(file).shape, result.shapes);
      if (!problem.empty()) result.findings.push_back({shown_path(file), problem});
    } catch (const Error& error) {
      result.findings.push_back({shown_path(file), error.what()});
    }
  }
}

}  // namespace feedrate::formats
