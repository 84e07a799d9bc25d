#include "converters/cifar/cifar_layout.h"

#include <algorithm>

namespace feedrate::converters {
namespace {

constexpr std::string_view cifar10_train[] = {"data_batch_1", "data_batch_2", "data_batch_3",
                                              "data_batch_4", "data_batch_5"};
constexpr std::string_view cifar10_test[] = {"test_batch"};
constexpr std::string_view cifar100_train[] = {"train"};
constexpr std::string_view cifar100_test[] = {"test"};

constexpr std::string_view binary_suffix = ".bin";
constexpr std::string_view compressions[] = {".gz", ".bz2", ".xz", ".zst"};

// Removes `suffix` from the end of `name`; false if it is not there.
bool take_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

void take_compression(std::string_view& name) {
  for (const std::string_view suffix : compressions) {
    if (take_suffix(name, suffix)) return;
  }
}

}  // namespace

constinit const CifarLayout cifar10_layout = {
    .source = "cifar10",
    .title = "CIFAR-10",
    .train = cifar10_train,
    .test = cifar10_test,
    .classes = 10,
    .coarse_classes = 0,
    .directories = {"cifar-10-batches-bin", "cifar-10-batches-py"},
    .archives = {"cifar-10-binary", "cifar-10-python"},
    .name_files = {"batches.meta.txt", "batches.meta"},
    .names_key = "label_names",
    .label_key = "labels",
    .coarse_key = "",
};

constinit const CifarLayout cifar100_layout = {
    .source = "cifar100",
    .title = "CIFAR-100",
    .train = cifar100_train,
    .test = cifar100_test,
    .classes = 100,
    .coarse_classes = 20,
    .directories = {"cifar-100-binary", "cifar-100-python"},
    .archives = {"cifar-100-binary", "cifar-100-python"},
    .name_files = {"fine_label_names.txt", "meta"},
    .names_key = "fine_label_names",
    .label_key = "fine_labels",
    .coarse_key = "coarse_labels",
};

std::optional<CifarName> parse_cifar_name(const CifarLayout& layout, std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  take_compression(name);
  for (const CifarPackaging packaging : {CifarPackaging::binary, CifarPackaging::python}) {
    if (name == layout.name_files[static_cast<std::size_t>(packaging)]) {
      return CifarName{packaging, cifar_names_part};
    }
  }
  const bool binary = take_suffix(name, binary_suffix);
  for (const auto batches : {layout.train, layout.test}) {
    if (const auto batch = std::ranges::find(batches, name); batch != batches.end()) {
      return CifarName{binary ? CifarPackaging::binary : CifarPackaging::python, *batch};
    }
  }
  return std::nullopt;
}

std::string cifar_file_name(const CifarLayout& layout, CifarPackaging packaging,
                            std::string_view part) {
  if (part == cifar_names_part) {
    return std::string(layout.name_files[static_cast<std::size_t>(packaging)]);
  }
  std::string name(part);
  if (packaging == CifarPackaging::binary) name += binary_suffix;
  return name;
}

std::optional<CifarPackaging> cifar_archive_packaging(const CifarLayout& layout,
                                                      std::string_view file_name) {
  take_compression(file_name);
  if (!take_suffix(file_name, ".tar") && !take_suffix(file_name, ".tgz") &&
      !take_suffix(file_name, ".zip")) {
    return std::nullopt;
  }
  for (const CifarPackaging packaging : {CifarPackaging::binary, CifarPackaging::python}) {
    if (file_name == layout.archives[static_cast<std::size_t>(packaging)]) return packaging;
  }
  return std::nullopt;
}

}  // namespace feedrate::converters
