#pragma once
// Small datasets in CIFAR's two packagings, made in memory, one from the other.

#include <string>
#include <utility>

#include "converters/cifar/cifar_layout.h"
#include "tests/converters/make_archive.h"

namespace feedrate::testing {
using namespace converters;

/// Binary records: labels that count through the classes, then noise. Each batch has its own
/// `seed`.
inline std::string cifar_batch(const CifarLayout& layout, std::size_t count, std::uint32_t seed) {
  const std::string pixels = noise(count * cifar_image_bytes, seed);
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t label = (i * 7 + seed) % layout.classes;
    if (layout.coarse_classes != 0) bytes += static_cast<char>(label % layout.coarse_classes);
    bytes += static_cast<char>(label);
    bytes += pixels.substr(i * cifar_image_bytes, cifar_image_bytes);
  }
  return bytes;
}

/// A pickle of protocol 2 as Python 2 wrote the published ones: its strings, its memo from 1.
class Python2Pickle {
 public:
  void open_dict() { bytes_ += "}" + put() + "("; }
  std::string close_dict() { return bytes_ + "u."; }
  void string(const std::string& text) { bytes_ += short_string(text) + put(); }
  void integer(std::size_t number) {
    bytes_ += number < 256 ? std::string("K") + static_cast<char>(number)
                           : std::string("M") + static_cast<char>(number & 255) +
                                 static_cast<char>(number >> 8);
  }
  template <class Item>
  void list(std::size_t count, Item item) {
    bytes_ += "]" + put() + "(";
    for (std::size_t i = 0; i < count; ++i) item(i);
    bytes_ += "e";
  }
  void array(std::size_t rows, std::size_t columns, const std::string& data) {
    bytes_ += "cnumpy.core.multiarray\n_reconstruct\n" + put() + "cnumpy\nndarray\n" + put();
    integer(0);
    bytes_ += "\x85" + short_string("b") + "\x87R" + put() + "(";
    integer(1);
    integer(rows);
    integer(columns);
    bytes_ +=
        "\x86"
        "cnumpy\ndtype\n" +
        put() + short_string("u1");
    integer(0);
    integer(1);
    bytes_ += "\x87R" + put() + "(";
    integer(3);
    bytes_ += short_string("|") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff";
    integer(0);
    const auto size = static_cast<std::uint32_t>(data.size());
    bytes_ += "tb\x89T" + std::string(reinterpret_cast<const char*>(&size), 4) + data + "tb";
  }

 private:
  static std::string short_string(const std::string& text) {
    return "U" + std::string(1, static_cast<char>(text.size())) + text;
  }
  std::string put() { return "q" + std::string(1, static_cast<char>(++memo_ & 127)); }

  std::string bytes_ = "\x80\x02";
  unsigned memo_ = 0;
};

/// The same batch in the python packaging.
inline std::string pickled_batch(const CifarLayout& layout, const std::string& binary) {
  const std::size_t record = layout.record_bytes();
  const std::size_t count = binary.size() / record;
  std::string pixels;
  for (std::size_t i = 0; i < count; ++i) {
    pixels += binary.substr(i * record + layout.label_bytes(), cifar_image_bytes);
  }
  const auto label = [&](std::size_t i, std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(binary[i * record + at]));
  };
  Python2Pickle pickle;
  pickle.open_dict();
  pickle.string("batch_label");
  pickle.string("training batch 1 of 5");
  if (layout.coarse_classes != 0) {
    pickle.string(std::string(layout.coarse_key));
    pickle.list(count, [&](std::size_t i) { pickle.integer(label(i, 0)); });
  }
  pickle.string(std::string(layout.label_key));
  pickle.list(count, [&](std::size_t i) { pickle.integer(label(i, layout.label_bytes() - 1)); });
  pickle.string("data");
  pickle.array(count, cifar_image_bytes, pixels);
  pickle.string("filenames");
  pickle.list(count, [&](std::size_t i) { pickle.string("a_s_" + std::to_string(i) + ".png"); });
  return pickle.close_dict();
}

inline std::string class_name(std::size_t label) { return "class_" + std::to_string(label); }

/// Both splits under their published names. The test split has two images, batch i of the training
/// split 4 + i.
inline Entries cifar_entries(const CifarLayout& layout, CifarPackaging packaging) {
  const bool binary = packaging == CifarPackaging::binary;
  const std::string directory =
      std::string(layout.directories[static_cast<std::size_t>(packaging)]) + "/";
  const auto name = [&](std::string_view part) {
    return directory + cifar_file_name(layout, packaging, part);
  };
  Entries entries;
  std::uint32_t seed = 0;
  const auto add = [&](std::string_view part, std::size_t count) {
    const std::string batch = cifar_batch(layout, count, ++seed);
    entries.emplace_back(name(part), binary ? batch : pickled_batch(layout, batch));
  };
  for (const std::string_view part : layout.train) add(part, 5 + entries.size());
  for (const std::string_view part : layout.test) add(part, 2);
  std::string names;
  Python2Pickle pickle;
  pickle.open_dict();
  pickle.string(std::string(layout.names_key));
  pickle.list(layout.classes, [&](std::size_t i) { pickle.string(class_name(i)); });
  for (std::size_t i = 0; i < layout.classes; ++i) names += class_name(i) + "\n";
  entries.emplace_back(name(cifar_names_part), binary ? names + "\n" : pickle.close_dict());
  entries.emplace_back(directory + "readme.html", "<html>see the page</html>");
  return entries;
}

/// The entries in the arbitrary order of the published archives.
inline Entries shuffled(Entries entries) {
  std::swap(entries.front(), entries.back());
  if (entries.size() > 4) std::swap(entries[1], entries[4]);
  return entries;
}

/// Writes the entries as files under `directory`.
inline void unpack(const std::filesystem::path& directory, const Entries& entries) {
  for (const auto& [name, content] : entries) {
    std::filesystem::create_directories((directory / name).parent_path());
    write(directory / name, content);
  }
}

}  // namespace feedrate::testing
