// What libFuzzer lacks: --seeds=DIR writes the harness's own seeds there and exits, and the error
// messages of libraries count as branches.

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "formats/io/file.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {

// libFuzzer finds extra counters by the name of this section.
[[gnu::section("__libfuzzer_extra_counters")]] std::uint8_t complaints[4096];

void complained(std::string_view message) {
  // FNV-1a of the message, without numbers and quoted text, which differ from input to input.
  std::uint32_t hash = 2166136261U;
  bool quoted = false;
  for (const char c : message) {
    if (c == '\'') quoted = !quoted;
    if (quoted || (c >= '0' && c <= '9')) continue;
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 16777619U;
  }
  complaints[hash % std::size(complaints)] = 1;
}

}  // namespace feedrate::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** words);

int LLVMFuzzerInitialize(int* count, char*** words) {
  constexpr std::string_view option = "--seeds=";
  const std::string_view word = *count == 2 ? (*words)[1] : "";
  if (!word.starts_with(option)) return 0;
  const std::filesystem::path directory = word.substr(option.size());
  std::filesystem::create_directories(directory);
  std::size_t number = 0;
  for (const feedrate::formats::Buffer& seed : feedrate::fuzz::seeds()) {
    feedrate::formats::write_text(directory / feedrate::formats::join("seed-", number++),
                                  feedrate::formats::as_text(seed));
  }
  std::exit(0);
}
