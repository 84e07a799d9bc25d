#pragma once
// How CIFAR-10 and CIFAR-100 are published. Both come in two packagings, binary files and Python
// pickles; the names of the files show which.
//
//   cifar-10-binary.tar.gz    cifar-10-batches-bin/  data_batch_1.bin … _5.bin  test_batch.bin
//   cifar-10-python.tar.gz    cifar-10-batches-py/   data_batch_1 … _5          test_batch
//   cifar-100-binary.tar.gz   cifar-100-binary/      train.bin                  test.bin
//   cifar-100-python.tar.gz   cifar-100-python/      train                      test

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/pixels/image.h"

namespace feedrate::converters {

inline constexpr formats::Shape cifar_shape{32, 32, 3};
inline constexpr std::size_t cifar_image_bytes = 32 * 32 * 3;  // planes of red, green, blue

enum class CifarPackaging : std::uint8_t { binary, python };

struct CifarLayout {
  std::string_view source;                  // name of the source
  std::string_view title;                   // name as published
  std::span<const std::string_view> train;  // its batches, in order; the binary ones end in ".bin"
  std::span<const std::string_view> test;
  std::uint32_t classes;
  std::uint32_t coarse_classes;  // 0: each image has only one label

  // For each packaging, in the order of CifarPackaging.
  std::array<std::string_view, 2> directories;
  std::array<std::string_view, 2> archives;    // without ".tar.gz"
  std::array<std::string_view, 2> name_files;  // the names of the classes
  std::string_view names_key;                  // in the pickle with the names
  std::string_view label_key;                  // in a pickled batch
  std::string_view coarse_key;

  std::span<const std::string_view> batches(std::string_view split) const {
    return split == "train" ? train : test;
  }
  /// Labels in front of the pixels of a binary record: the coarse one, if any, then the fine one.
  std::size_t label_bytes() const { return coarse_classes != 0 ? 2 : 1; }
  std::size_t record_bytes() const { return label_bytes() + cifar_image_bytes; }
};

extern const CifarLayout cifar10_layout;
extern const CifarLayout cifar100_layout;

/// The other of the two: what a wrong archive probably is.
inline const CifarLayout& other_cifar(const CifarLayout& layout) {
  return &layout == &cifar10_layout ? cifar100_layout : cifar10_layout;
}

/// The part that holds the class names.
inline constexpr std::string_view cifar_names_part = "names";

/// What a file name means: "data_batch_1.bin.gz" is the binary part data_batch_1.
struct CifarName {
  CifarPackaging packaging = CifarPackaging::binary;
  std::string_view part;  // one of the layout's batches, or cifar_names_part
};

/// Nothing for a name outside the layout. `path` may include directories.
std::optional<CifarName> parse_cifar_name(const CifarLayout& layout, std::string_view path);

/// The published name of a part.
std::string cifar_file_name(const CifarLayout& layout, CifarPackaging packaging,
                            std::string_view part);

/// The packaging of an archive by its file name; nothing for a name other than the published ones.
std::optional<CifarPackaging> cifar_archive_packaging(const CifarLayout& layout,
                                                      std::string_view file_name);

}  // namespace feedrate::converters
