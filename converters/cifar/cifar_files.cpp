#include "converters/cifar/cifar_files.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "converters/archive.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr CifarPackaging packagings[] = {CifarPackaging::binary, CifarPackaging::python};

class Search {
 public:
  Search(const CifarLayout& layout, std::string_view split) : layout_(layout), split_(split) {}

  void look_into(std::span<const fs::path> inputs) {
    Loose given;
    for (const fs::path& input : inputs) {
      if (fs::is_directory(input)) {
        look_into_directory(input);
        for (const std::string_view name : layout_.directories) {
          if (fs::is_directory(input / name)) look_into_directory(input / name);
        }
      } else if (!add_file(given, input)) {
        look_into_archive(input);
      }
    }
    add_places(std::move(given));
  }

  CifarChoice result(const fs::path& first_input) {
    if (places_.empty()) fail_without(first_input);
    // A stable sort keeps places of one rank in the order in which they were given.
    std::ranges::stable_sort(places_, {}, rank);
    CifarChoice choice{places_.front(), {}};
    if (places_.size() > 1 && rank(places_[1]) == rank(places_[0])) {
      fail(places_[0].name(), "this and ", places_[1].name(), " both hold the ", split_,
           " split of ", layout_.title, "; give one of them");
    }
    for (std::size_t i = 1; i < places_.size(); ++i) {
      choice.notes.push_back(join("read from ", shown(places_[0]), "; ", shown(places_[i]),
                                  " was there as well and was not read"));
    }
    return choice;
  }

 private:
  // Unpacked files that lie in one place.
  struct Loose {
    std::map<std::string_view, fs::path> files[2];  // by packaging: part → file
  };

  // Adds the file if its name says what it is.
  bool add_file(Loose& loose, const fs::path& file) {
    const auto name = parse_cifar_name(layout_, file.filename().string());
    if (!name) return false;
    const auto packaging = static_cast<std::size_t>(name->packaging);
    const auto [at, added] = loose.files[packaging].try_emplace(name->part, file);
    if (!added && at->second != file) {
      // Of a file that is there both plain and compressed, the plain one is read; its name is
      // shorter.
      if (at->second.parent_path() != file.parent_path()) {
        fail(file, "was found twice, also as ", at->second.string(), "; give one of them");
      }
      at->second = std::min(at->second, file);
    }
    return true;
  }

  void look_into_directory(const fs::path& directory) {
    std::error_code error;
    fs::directory_iterator entries(directory, error);
    if (error) fail(directory, "cannot list: ", error.message());
    Loose loose;
    for (const fs::directory_entry& entry : entries) {
      if (!entry.is_regular_file()) continue;
      const std::string name = entry.path().filename().string();
      if (add_file(loose, entry.path())) continue;
      if (const auto packaging = cifar_archive_packaging(layout_, name)) {
        places_.push_back({*packaging, entry.path(), {}});
      } else {
        remember(name);
      }
    }
    add_places(std::move(loose));
  }

  // An archive may have any name: the first entry with the name of a CIFAR file shows the
  // packaging.
  void look_into_archive(const fs::path& input) {
    Archive archive(input);
    if (archive.single()) {
      remember(input.filename().string());
      return;
    }
    while (archive.next()) {
      if (const auto name = parse_cifar_name(layout_, archive.name())) {
        places_.push_back({name->packaging, input, {}});
        return;
      }
      remember(archive.name());
    }
  }

  void add_places(Loose loose) {
    for (const CifarPackaging packaging : packagings) {
      auto& files = loose.files[static_cast<std::size_t>(packaging)];
      if (files.empty()) continue;
      std::string missing;
      for (const std::string_view batch : layout_.batches(split_)) {
        if (!files.contains(batch))
          missing += join(" ", cifar_file_name(layout_, packaging, batch));
      }
      if (missing.empty()) {
        places_.push_back({packaging, {}, std::move(files)});
      } else {
        incomplete_ = join("; missing beside ", files.begin()->second.string(), ":", missing);
      }
    }
  }

  [[noreturn]] void fail_without(const fs::path& input) const {
    const std::string wanted =
        join("no ", split_, " split of ", layout_.title, "; give ", layout_.archives[0],
             ".tar.gz, ", layout_.archives[1], ".tar.gz, a directory that holds one of them, or ",
             cifar_file_name(layout_, CifarPackaging::binary, layout_.batches(split_).front()),
             layout_.batches(split_).size() > 1 ? " and the others" : "");
    if (!incomplete_.empty()) fail(input, wanted, incomplete_);
    if (seen_other_) {
      const CifarLayout& other = other_cifar(layout_);
      fail(input, "holds ", other.title, ", not ", layout_.title, "; use the source ",
           other.source);
    }
    fail(input, wanted, seen_.empty() ? "; found no file" : "; found" + seen_);
  }

  void remember(const std::string& name) {
    constexpr std::size_t max_listed = 400;  // characters: an error is a sentence, not a listing
    if (seen_.size() < max_listed) {
      seen_ += join(" ", name);
      if (seen_.size() >= max_listed) seen_ += " …";
    }
    const CifarLayout& other = other_cifar(layout_);
    seen_other_ =
        seen_other_ || parse_cifar_name(other, name) || cifar_archive_packaging(other, name);
  }

  static std::tuple<bool, CifarPackaging> rank(const CifarPlace& place) {
    return {!place.archive.empty(), place.packaging};
  }

  // Without directories: the notes in a sidecar should not depend on where the inputs were.
  static std::string shown(const CifarPlace& place) {
    return fs::path(place.name()).filename().string();
  }

  const CifarLayout& layout_;
  const std::string_view split_;
  std::vector<CifarPlace> places_;
  std::string incomplete_;
  std::string seen_;
  bool seen_other_ = false;
};

}  // namespace

std::string CifarPlace::name() const {
  if (!archive.empty()) return archive.string();
  const fs::path& file = files.begin()->second;
  return file.has_parent_path() ? file.parent_path().string() : file.string();
}

CifarChoice find_cifar(const CifarLayout& layout, std::span<const fs::path> inputs,
                       std::string_view split) {
  if (inputs.empty()) {
    throw Error(join(layout.source, ": no input given; give an archive, a directory or files"));
  }
  Search search(layout, split);
  search.look_into(inputs);
  return search.result(inputs.front());
}

}  // namespace feedrate::converters
