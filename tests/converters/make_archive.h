#pragma once
// Archives and IDX files for tests, made in memory.

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::testing {
using namespace formats;

using Entries = std::vector<std::pair<std::string, std::string>>;  // name, content

struct Packing {
  int format = ARCHIVE_FORMAT_TAR_USTAR;
  int filter = ARCHIVE_FILTER_NONE;
};

inline std::string make_archive(const Entries& entries, Packing packing) {
  std::string bytes;
  archive* writer = archive_write_new();
  archive_write_set_format(writer, packing.format);
  EXPECT_EQ(archive_write_add_filter(writer, packing.filter), ARCHIVE_OK);
  const auto append_block = [](archive*, void* to, const void* block, std::size_t size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(block), size);
    return static_cast<la_ssize_t>(size);
  };
  archive_write_set_bytes_in_last_block(writer, 1);
  EXPECT_EQ(archive_write_open(writer, &bytes, nullptr, append_block, nullptr), ARCHIVE_OK);
  for (const auto& [name, content] : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_entry_set_mtime(entry, 0, 0);
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK) << archive_error_string(writer);
    EXPECT_EQ(archive_write_data(writer, content.data(), content.size()),
              static_cast<la_ssize_t>(content.size()));
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  return bytes;
}

inline std::string tar(const Entries& entries) { return make_archive(entries, {}); }
inline std::string tar_gz(const Entries& entries) {
  return make_archive(entries, {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP});
}
/// A compressed file that is not an archive.
inline std::string compressed(const std::string& content, int filter = ARCHIVE_FILTER_GZIP) {
  return make_archive({{"data", content}}, {ARCHIVE_FORMAT_RAW, filter});
}

inline std::filesystem::path write(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

inline std::string be32(std::uint32_t value) {
  const std::uint32_t swapped = swap_bytes(value);
  return {reinterpret_cast<const char*>(&swapped), sizeof swapped};
}

/// Bytes that do not compress and do not repeat: i * odd constant, high bits.
inline std::string noise(std::size_t size, std::uint32_t seed = 1) {
  std::string bytes(size, '\0');
  std::uint32_t state = seed * 2654435761U + 1;
  for (char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

inline std::string idx_images(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                              std::uint32_t seed = 1) {
  return be32(0x803) + be32(count) + be32(height) + be32(width) +
         noise(std::size_t{count} * height * width, seed);
}

inline std::string idx_labels(std::uint32_t count, std::uint32_t classes = 10) {
  std::string bytes = be32(0x801) + be32(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 7 % classes);
  return bytes;
}

/// The four files of a set under their published names, compressed.
inline void write_mnist(const std::filesystem::path& directory, std::uint32_t train,
                        std::uint32_t test, std::uint32_t side = 28) {
  std::filesystem::create_directories(directory);
  write(directory / "train-images-idx3-ubyte.gz", compressed(idx_images(train, side, side, 1)));
  write(directory / "train-labels-idx1-ubyte.gz", compressed(idx_labels(train)));
  write(directory / "t10k-images-idx3-ubyte.gz", compressed(idx_images(test, side, side, 2)));
  write(directory / "t10k-labels-idx1-ubyte.gz", compressed(idx_labels(test)));
}

}  // namespace feedrate::testing
