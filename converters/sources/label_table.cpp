#include "converters/sources/label_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/base/utf8.h"
#include "formats/containers/folder/folder_files.h"
#include "formats/io/file.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using Fields = std::vector<std::string>;

// Titles that the columns of names and labels may have: in lower case, without blanks, hyphens, underscores. Of
// several such columns in a list, that with the earliest title here is taken: "filename" before "id".
constexpr std::string_view name_titles[] = {
    "filename", "filepath", "imagepath", "imgpath", "path", "file",   "imagefile", "imagename",
    "imgname",  "imageid",  "imgid",     "image",   "img",  "images", "id",        "name"};
constexpr std::string_view boxes_title = "predictionstring";
constexpr std::string_view label_titles[] = {
    "label",     "labels",   "labelid",    "labelname",    "class",  "classid",
    "classname", "category", "categoryid", "categoryname", "target", "breed",
    "species",   "dx",       "diagnosis",  boxes_title};
constexpr std::size_t box_words = 4;  // behind the class: the corners

std::string title(std::string_view field) {
  std::string plain;
  for (const char c : field) {
    if (c == ' ' || c == '_' || c == '-') continue;
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain;
}

template <std::size_t Size>
std::size_t rank(std::string_view field, const std::string_view (&titles)[Size]) {
  return static_cast<std::size_t>(std::ranges::find(titles, title(field)) - std::begin(titles));
}

bool names_label(std::string_view field) {
  return rank(field, label_titles) < std::size(label_titles);
}
bool names_image(std::string_view field) {
  return rank(field, name_titles) < std::size(name_titles);
}

/// Takes the first field off a line. A quoted one may hold separators, and "" in it is a quote.
std::string take_field(std::string_view& line, char separator) {
  std::string field;
  const std::size_t quote = line.find_first_not_of(' ');
  std::size_t behind = 0;
  if (quote != std::string_view::npos && line[quote] == '"') {
    std::size_t at = quote + 1;
    for (; at < line.size() && (line[at] != '"' || line.substr(at + 1).starts_with('"')); ++at) {
      field += line[at];
      if (line[at] == '"') ++at;
    }
    if (at == line.size()) throw Error("a quote is not closed");
    behind = at + 1;
  }
  const std::size_t end = std::min(line.find(separator, behind), line.size());
  const std::string_view rest = trimmed(line.substr(behind, end - behind));
  if (behind != 0 && !rest.empty()) throw Error(join("'", rest, "' stands behind a quote"));
  line.remove_prefix(end);
  return behind == 0 ? std::string(rest) : field;
}

Fields separated_fields(std::string_view line, char separator) {
  Fields fields{take_field(line, separator)};
  while (!line.empty()) {
    line.remove_prefix(1);  // the separator
    fields.push_back(take_field(line, separator));
  }
  return fields;
}

// A name may hold blanks, a label not.
Fields two_fields(std::string_view line) {
  line = trimmed(line);
  const std::size_t last = line.find_last_of(" \t");
  if (last == std::string_view::npos) return {std::string(line)};
  std::string_view name = trimmed(line.substr(0, last));
  const bool quoted = name.size() >= 2 && name.front() == '"' && name.back() == '"';
  if (quoted) name = name.substr(1, name.size() - 2);
  return {std::string(name), std::string(line.substr(last + 1))};
}

Fields words_of(std::string_view line) {
  Fields words;
  for (std::string_view rest = trimmed(line); !rest.empty(); rest = trimmed(rest)) {
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
    words.emplace_back(word);
    rest.remove_prefix(word.size());
  }
  return words;
}

// "n01751748 111 108 260 250", and further boxes
bool is_class_with_boxes(std::string_view label) {
  std::size_t words = 0;
  for (std::string_view rest = trimmed(label); !rest.empty(); rest = trimmed(rest), ++words) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    const bool corner = words % (box_words + 1) != 0;
    if (corner && !parse_number<std::uint32_t>(word)) return false;
  }
  return words > 1 && words % (box_words + 1) == 0;
}

class TableReader {
 public:
  explicit TableReader(const Wishes& wishes) : wishes_(wishes) {}

  std::vector<LabelledName> read(std::string_view text) {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
      throw Error("is text in UTF-16; expected UTF-8, as 'iconv -f UTF-16 -t UTF-8' makes of it");
    }
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      ++line_;
      try {
        expect_text(line);
        if (!trimmed(line).empty() && !is_comment(line)) take(line, text);
      } catch (const Error& error) {
        throw Error(join("line ", line_, ": ", error.what()));
      }
    }
    if (!header_)
      has_boxes_ = std::ranges::all_of(rows_, is_class_with_boxes, &LabelledName::label);
    for (LabelledName& row : rows_) {
      if (has_boxes_) row.label.resize(std::min(row.label.size(), row.label.find(' ')));
    }
    return std::move(rows_);
  }

 private:
  static void expect_text(std::string_view line) {
    const auto wrong = std::ranges::find_if(
        line, [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
    if (wrong == line.end()) return;
    throw Error(fmt::format("byte {} is 0x{:02x}; expected text in UTF-8, one image a line",
                            wrong - line.begin(), static_cast<unsigned char>(*wrong)));
  }

  // Only in front of the first row; an image may be called "#1.jpg".
  bool is_comment(std::string_view line) const {
    return first_ == 0 && line.starts_with('#') &&
           !has_image_extension(line.substr(0, line.find_first_of(" \t,;")));
  }

  Fields fields_of(std::string_view line) const {
    switch (form_) {
      case Form::separated:
        return separated_fields(line, separator_);
      case Form::words:
        return words_of(line);
      case Form::name_last: {
        const Fields words = words_of(line);
        return {std::string(trimmed(trimmed(line).substr(words.front().size()))), words.front()};
      }
      case Form::name_first:
        break;
    }
    return two_fields(line);
  }

  // The first line decides on separator and columns.
  void find_form(std::string_view line) {
    for (const char separator : {'\t', ',', ';'}) {
      if (line.find(separator) == std::string_view::npos) continue;
      separator_ = separator;
      form_ = Form::separated;
      return;
    }
    const Fields words = words_of(line);
    constexpr std::size_t least_numbers = 3;
    const bool numbers = words.size() > least_numbers &&
                         std::all_of(words.begin() + 1, words.end(), [](const std::string& word) {
                           return parse_number<std::int64_t>(word).has_value();
                         });
    const Fields two = two_fields(line);
    if (numbers || !wishes_.image.empty() || !wishes_.label.empty()) {
      form_ = Form::words;
    } else if (two.size() == 2 && has_image_extension(two[1]) && !has_image_extension(two[0])) {
      form_ = Form::name_last;
    }
  }

  void take(std::string_view line, std::string_view behind) {
    if (first_ == 0) find_form(line);
    Fields fields = fields_of(line);
    if (first_ == 0) {
      first_ = line_;
      count_ = fields.size();
      find_columns(fields, behind);
      if (header_) return;
    }
    if (fields.size() == count_ && count_ > std::max(name_, label_)) {
      LabelledName row{std::move(fields[name_]), std::string(trimmed(fields[label_]))};
      if (!row.name.empty() && !row.label.empty()) return add(std::move(row));
    } else if (count_ > 1 && form_ == Form::separated) {
      throw Error(join("expected ", count_, " fields, as line ", first_, " has, found ",
                       fields.size(), " in '", trimmed(line).substr(0, 80), "'"));
    }
    throw Error(join("expected the name of an image and its label, found '",
                     trimmed(line).substr(0, 80), "'"));
  }

  // A class may be called "file" or "name", so one title does not make a header of any line.
  static bool is_header(const Fields& fields) {
    return std::ranges::any_of(fields, names_image) &&
           (names_image(fields.front()) || std::ranges::any_of(fields, names_label));
  }

  // The column with an image's extension, if it is the only one; else their number.
  static std::size_t only_image(const Fields& fields) {
    const auto found = std::ranges::find_if(fields, has_image_extension);
    if (std::ranges::count_if(fields, has_image_extension) != 1) return fields.size();
    return static_cast<std::size_t>(found - fields.begin());
  }

  // The column that the path names; nothing where it names none.
  std::optional<std::size_t> wished(const std::string& wish, const Fields& fields) {
    if (wish.empty()) return std::nullopt;
    const auto at = std::ranges::find(fields, wish);
    if (at != fields.end()) {
      header_ = true;
      return static_cast<std::size_t>(at - fields.begin());
    }
    const auto number = parse_number<std::size_t>(wish);
    if (number && *number >= 1 && *number <= fields.size()) return *number - 1;
    throw Error(join("has no column '", wish, "'; it has ", listed(fields)));
  }

  void find_columns(const Fields& fields, std::string_view behind) {
    const std::size_t none = fields.size();
    header_ = is_header(fields);
    const auto image = wished(wishes_.image, fields), label = wished(wishes_.label, fields);
    // Titles that nobody knows stand in front of the names of images.
    std::size_t below = none;
    if (!header_ && only_image(fields) == none && !behind.empty() && none > 1) {
      const Fields next = fields_of(take_line(behind));
      below = next.size() == none ? only_image(next) : none;
      header_ = below != none;
    }
    if (header_) return take_header(fields, below, image, label);
    const std::size_t named = only_image(fields);
    name_ = image.value_or(none == 2 && named != none ? named : 0);
    label_ = label.value_or(name_ == 0 ? 1 : 0);
    if (!image && !label && none > 2 && named != none && named != 0) {
      throw Error(join("the names of images are in column ", named + 1, " of ", none,
                       "; behind the path of the list, ?image=", named + 1,
                       "&label=N names the columns"));
    }
  }

  void take_header(const Fields& fields, std::size_t below, std::optional<std::size_t> image,
                   std::optional<std::size_t> label) {
    const auto by_rank = [](const std::string& field) { return rank(field, name_titles); };
    name_ = image ? *image
            : below != fields.size()
                ? below
                : static_cast<std::size_t>(std::ranges::min_element(fields, {}, by_rank) -
                                           fields.begin());
    if (label) {
      label_ = *label;
      if (label_ == name_ && !image) name_ = label_ == 0 ? 1 : 0;
    } else {
      find_label(fields);
    }
    has_boxes_ = title(fields[label_]) == boxes_title;
  }

  void find_label(const Fields& fields) {
    Fields labels;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i == name_ || (fields.size() > 2 && !names_label(fields[i]))) continue;
      label_ = i;
      labels.push_back(fields[i]);
    }
    if (labels.size() == 1) return;
    throw Error(join("expected a header with one column of labels beside '", fields[name_],
                     "', found ", labels.size(), labels.empty() ? "" : ": ", listed(labels),
                     "; behind the path of the list, ?label=COLUMN names it. It has ",
                     listed(fields)));
  }

  static std::string listed(const Fields& fields) {
    std::string text;
    for (const std::string& field : fields) text += join(text.empty() ? "" : ", ", field);
    return text;
  }

  void add(LabelledName row) {
    if (!is_utf8(row.label)) throw Error(join("the label '", row.label, "' is not UTF-8"));
    rows_.push_back(std::move(row));
  }

  enum class Form : std::uint8_t {
    separated,   // by separator_
    words,       // by blanks
    name_first,  // by the last blank
    name_last,   // by the first
  };

  const Wishes& wishes_;
  std::vector<LabelledName> rows_;
  Form form_ = Form::name_first;
  std::size_t line_ = 0;
  std::size_t first_ = 0;  // the line that decides; 0: not yet read
  std::size_t count_ = 0;  // fields of each line
  std::size_t name_ = 0, label_ = 1;
  char separator_ = ' ';
  bool header_ = false;
  bool has_boxes_ = false;
};

}  // namespace

std::vector<LabelledName> read_label_table(const std::filesystem::path& file,
                                           const Wishes& wishes) {
  Buffer content;
  read_file(file, content);
  try {
    return TableReader(wishes).read(as_text(content));
  } catch (const Error& error) {
    fail(file, error.what());
  }
}

}  // namespace feedrate::converters
