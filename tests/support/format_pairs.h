#pragma once
// Every container with every codec that it accepts, from the registries: a test parameter, so that
// a new row is tested as soon as it exists.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/container.h"

namespace feedrate::testing {
using namespace formats;

struct FormatPair {
  const Container* container;
  const Codec* codec;

  std::string name() const { return join(container->name(), "_", codec->name()); }
};

inline std::vector<FormatPair> format_pairs() {
  std::vector<FormatPair> pairs;
  for (const Container* container : containers()) {
    for (const Codec* codec : codecs()) {
      if (codec->encodes() && container->accepts(*codec)) pairs.push_back({container, codec});
    }
  }
  return pairs;
}

/// The pair's name as GoogleTest allows it.
inline std::string test_name(const ::testing::TestParamInfo<FormatPair>& info) {
  std::string name = info.param.name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Makes a failing test name its pair.
inline void PrintTo(const FormatPair& pair, std::ostream* out) { *out << pair.name(); }

}  // namespace feedrate::testing
