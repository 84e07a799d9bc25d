#include "converters/sources/mnist_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>

#include "converters/sources/idx.h"
#include "formats/base/error.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

struct Named {
  std::string set;  // "", "emnist-letters-", "inner/directory/"
  std::string_view split;
  IdxKind kind = IdxKind::images;
};

// train-images-idx3-ubyte.gz, t10k-labels.idx1-ubyte, emnist-letters-test-images-idx3-ubyte.gz
std::optional<Named> parse_name(const fs::path& name) {
  static const std::regex pattern(
      R"((.*-)?(train|t10k|test)-(images|labels)[-.]idx[13]-ubyte(\.(gz|bz2|xz|zst))?)");
  const std::string base = name.filename().string();
  std::smatch match;
  if (!std::regex_match(base, match, pattern)) return std::nullopt;
  const fs::path directory = name.parent_path();
  return Named{directory.empty() ? match.str(1) : directory.string() + "/" + match.str(1),
               match.str(2) == "train" ? "train" : "test",
               match.str(3) == "images" ? IdxKind::images : IdxKind::labels};
}

struct Candidates {
  std::vector<IdxPart> images;
  std::vector<IdxPart> labels;
  std::vector<IdxPart>& of(IdxKind kind) { return kind == IdxKind::images ? images : labels; }
};

class Search {
 public:
  explicit Search(std::string_view split) : split_(split) {}

  void look_into(const fs::path& input) {
    if (fs::is_directory(input)) {
      look_into_directory(input);
    } else if (Archive archive(input); archive.single()) {
      look_at_file(input);
    } else {
      look_into_archive(input, archive);
    }
  }

  IdxPair result(std::span<const fs::path> inputs) {
    std::vector<std::string> whole;
    for (auto& [set, parts] : sets_) {
      if (!parts.images.empty() && !parts.labels.empty()) whole.push_back(set);
    }
    if (whole.size() > 1) {
      std::string message = join("several sets have a ", split_, " split here:");
      for (const std::string& set : whole) message += "\n  " + sets_[set].images.front().place();
      fail(inputs.front(), message, "\ngive the images and labels of one of them");
    }
    if (whole.size() == 1) return pair_of(sets_[whole.front()]);
    if (unnamed_.images.size() == 1 && unnamed_.labels.size() == 1) return pair_of(unnamed_);
    fail(inputs.front(), "no pair of ", split_ == "train" ? "train" : "t10k",
         "-images-idx3-ubyte and -labels-idx1-ubyte (also .gz) for the ", split_, " split; ",
         seen_.empty() ? "found no file" : "found" + seen_);
  }

 private:
  // Files lie in it, each perhaps in a directory of its own name, as 7-Zip unpacks them, or in torchvision's MNIST/raw.
  void look_into_directory(const fs::path& directory, const std::string& set = "") {
    std::error_code error;
    fs::directory_iterator files(directory, error);
    if (error) fail(directory, "cannot list: ", error.message());
    std::error_code ignored;
    for (const fs::directory_entry& file : files) {
      const std::string name = file.path().filename().string();
      auto named = parse_name(name);
      if (file.is_directory(ignored)) {
        if (named) look_into_directory(file.path(), set);
        const bool raw = name == "raw" || fs::is_directory(file.path() / "raw", ignored);
        if (raw) look_into_directory(file.path(), set + name + "/");
        continue;
      }
      if (!file.is_regular_file(ignored)) continue;
      remember(name);
      if (!named) continue;
      named->set.insert(0, set);
      add(*named, {file.path(), {}});
    }
  }

  void look_into_archive(const fs::path& input, Archive& archive) {
    while (archive.next()) {
      remember(archive.name());
      if (const auto named = parse_name(archive.name())) add(*named, {input, archive.name()});
    }
  }

  // A file given by itself may have any name: then its content decides.
  void look_at_file(const fs::path& file) {
    remember(file.filename().string());
    if (const auto named = parse_name(file.filename())) {
      add(*named, {file, {}});
      return;
    }
    OpenPart part({file, {}});
    unnamed_.of(read_idx_header(part.data()).kind).push_back({file, {}});
  }

  void add(const Named& named, IdxPart part) {
    if (named.split == split_) sets_[named.set].of(named.kind).push_back(std::move(part));
  }

  void remember(const std::string& name) {
    constexpr std::size_t max_listed = 400;  // characters: an error is a sentence, not a listing
    if (seen_.size() < max_listed) {
      seen_ += " " + name;
      if (seen_.size() >= max_listed) seen_ += " …";
    }
  }

  // Of a file that is there both plain and compressed, the plain one is read: its name sorts first.
  static IdxPair pair_of(Candidates& parts) {
    const auto first = [](std::vector<IdxPart>& list) {
      return *std::ranges::min_element(list, {}, &IdxPart::place);
    };
    return {first(parts.images), first(parts.labels)};
  }

  std::string_view split_;
  std::map<std::string, Candidates> sets_;
  Candidates unnamed_;
  std::string seen_;
};

}  // namespace

IdxPair find_idx_pair(std::span<const fs::path> inputs, std::string_view split) {
  if (inputs.empty()) throw Error("mnist: no input given; give a directory, an archive or files");
  Search search(split);
  for (const fs::path& input : inputs) search.look_into(input);
  return search.result(inputs);
}

OpenPart::OpenPart(const IdxPart& part) : outer_(part.file) {
  if (part.entry.empty()) {
    if (!outer_.next()) fail(part.file, "holds no file");
    return;
  }
  do {
    if (!outer_.next()) fail(part.file, "has no entry ", part.entry, " any more");
  } while (outer_.name() != part.entry);
  inner_ = std::make_unique<Archive>(outer_);
  if (!inner_->next()) fail(part.place(), "holds no file");
}

}  // namespace feedrate::converters
