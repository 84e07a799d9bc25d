#pragma once
// The tables of tools/JSON.md: the keys of each section, and the section that describes the keys of
// a value. A section's name is that of links to it: "train-forward".

#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/places.h"

namespace feedrate::testing {

class JsonPage {
 public:
  struct Key {
    std::string inside;  // the section that describes the value, or ""
    bool may_be_null;    // the page says when
  };
  struct Section {
    std::map<std::string, Key> keys;
    std::vector<std::string> also;  // sections whose keys this one has, too
  };

  JsonPage() {
    std::ifstream lines(source_directory() / "tools/JSON.md");
    std::string current;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('#')) {
        current = link_name(line.substr(line.find(' ') + 1));
        sections_.try_emplace(current);
      } else if (line.starts_with("| `")) {
        const std::string name = between(line, "`", "`");
        const std::vector<std::string> links = links_of(cell(line, 2));
        const std::string last = cell(line, 4);
        const Key key{links.empty() ? "" : links.front(),
                      last != " " && !last.starts_with(" absent: ")};
        if (!sections_[current].keys.emplace(name, key).second) {
          throw std::runtime_error(current + " has two rows of " + name);
        }
      } else if (line.starts_with("Also every key of ")) {
        sections_[current].also = links_of(line);
      }
    }
  }

  bool has(const std::string& section) const { return sections_.contains(section); }
  const Section& section(const std::string& name) const { return sections_.at(name); }

  /// Every key of a section, those of `also` among them.
  std::set<std::string> keys(const std::string& name) const {
    std::set<std::string> found;
    for (const auto& [key, known] : section(name).keys) found.insert(key);
    for (const std::string& other : section(name).also) found.merge(keys(other));
    return found;
  }

 private:
  // "train, forward" → "train-forward", as in links.
  static std::string link_name(const std::string& title) {
    std::string name;
    for (const unsigned char c : title) {
      if (std::isalnum(c) != 0) name += static_cast<char>(std::tolower(c));
      if (c == ' ' || c == '-') name += '-';
    }
    return name;
  }

  static std::string between(const std::string& text, std::string_view from, std::string_view to) {
    const std::size_t begin = text.find(from) + from.size();
    return text.substr(begin, text.find(to, begin) - begin);
  }

  static std::string cell(const std::string& row, int number) {
    std::size_t begin = 0;
    for (int i = 0; i < number; ++i) begin = bar(row, begin) + 1;
    return row.substr(begin, bar(row, begin) - begin);
  }

  // The next bar that ends a cell; a bar after a backslash is part of the text.
  static std::size_t bar(const std::string& row, std::size_t from) {
    std::size_t at = row.find('|', from);
    while (at != std::string::npos && at > 0 && row[at - 1] == '\\') at = row.find('|', at + 1);
    return at;
  }

  static std::vector<std::string> links_of(const std::string& text) {
    std::vector<std::string> names;
    for (std::size_t at = text.find("(#"); at != std::string::npos; at = text.find("(#", at + 1)) {
      names.push_back(between(text.substr(at), "(#", ")"));
    }
    return names;
  }

  std::map<std::string, Section> sections_;
};

}  // namespace feedrate::testing
