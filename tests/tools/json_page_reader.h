#pragma once
// What a command prints as JSON, compared with tools/JSON.md.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/tools/json_page.h"

namespace feedrate::testing {

/// Looks up every key of an object in the page, and remembers the keys that it has seen.
class JsonPageReader {
 public:
  void read(const nlohmann::ordered_json& object, const std::string& section) {
    members(object, {{section, ""}});
    read_.push_back({{"section", section}, {"object", object}});
  }

  /// What was read, each as {"section": …, "object": …}.
  const nlohmann::ordered_json& all_read() const { return read_; }

  /// Every key of these sections has been seen; keys of sections that they include do not count.
  void expect_all_seen(const std::vector<std::string>& sections) const {
    for (const std::string& section : sections) {
      for (const auto& [key, known] : page_.section(section).keys) {
        EXPECT_TRUE(seen_.contains({section, key}))
            << section << ": `" << key << "` never appeared";
      }
    }
  }

 private:
  /// Where the keys of an object may stand: a section, and what comes before the key there.
  struct Place {
    std::string section;
    std::string before;
  };
  using Places = std::vector<Place>;

  void members(const nlohmann::ordered_json& object, const Places& places) {
    for (const auto& [key, value] : object.items()) {
      Places inside;
      const JsonPage::Key* known = nullptr;
      for (const Place& place : places) {
        if ((known = find(place, key, inside)) != nullptr) break;
      }
      if (known == nullptr) {
        ADD_FAILURE() << places.front().section << ": no `" << places.back().before << key << "`";
        continue;
      }
      EXPECT_TRUE(known->may_be_null || !value.is_null())
          << places.front().section << ": `" << places.back().before << key << "` is null";
      if (value.is_object()) members(value, inside);
      if (!value.is_array()) continue;
      inside.back().before.insert(inside.back().before.size() - 1, "[]");
      for (const nlohmann::ordered_json& one : value) {
        if (one.is_object()) members(one, inside);
      }
    }
  }

  /// Null if the page lacks the key; else `inside` gets the places of the keys of its value.
  const JsonPage::Key* find(const Place& place, const std::string& key, Places& inside) {
    const JsonPage::Section& section = page_.section(place.section);
    for (const std::string& written : {place.before + key, place.before + "*"}) {
      const auto found = section.keys.find(written);
      if (found == section.keys.end()) continue;
      seen_.emplace(place.section, written);
      if (!found->second.inside.empty()) inside.push_back({found->second.inside, ""});
      inside.push_back({place.section, written + "."});
      return &found->second;
    }
    for (const std::string& other : section.also) {
      if (const JsonPage::Key* known = find({other, place.before}, key, inside)) return known;
    }
    return nullptr;
  }

  JsonPage page_;
  nlohmann::ordered_json read_ = nlohmann::ordered_json::array();
  std::set<std::pair<std::string, std::string>> seen_;  // section and key
};

}  // namespace feedrate::testing
