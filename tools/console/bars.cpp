#include "tools/console/bars.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace feedrate::tools {
namespace {

constexpr std::array eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
constexpr std::array heights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

bool continues(char letter) { return (static_cast<unsigned char>(letter) & 0xC0U) == 0x80U; }

// The first `columns` characters.
std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues(text[at]) && columns-- == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace

std::string bar(std::uint64_t value, std::uint64_t largest, std::size_t columns) {
  if (value == 0 || largest == 0) return {};
  const double share = static_cast<double>(value) / static_cast<double>(largest);
  const auto parts = static_cast<std::size_t>(share * static_cast<double>(columns * 8) + 0.5);
  const std::size_t drawn = std::clamp<std::size_t>(parts, 1, columns * 8);
  std::string text;
  for (std::size_t i = 0; i < drawn / 8; ++i) text += "█";
  return text + eighths[drawn % 8];
}

std::string profile(std::span<const std::uint64_t> values, std::size_t columns) {
  const std::size_t count = std::min(columns, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    const auto part = values.subspan(begin, end - begin);
    means.push_back(std::accumulate(part.begin(), part.end(), 0.0) /
                    static_cast<double>(part.size()));
  }
  const double largest = means.empty() ? 0 : *std::ranges::max_element(means);
  std::string text;
  for (const double mean : means) {
    const double eighth = largest == 0 ? 0 : mean / largest * 8;
    text +=
        heights[mean == 0 ? 0
                          : std::clamp<std::size_t>(static_cast<std::size_t>(eighth + 0.5), 1, 8)];
  }
  return text;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string fitted(std::string_view text, std::size_t columns) {
  const std::size_t taken = columns_of(text);
  if (taken > columns && columns == 0) return {};
  if (taken > columns) return std::string(cut(text, columns - 1)) + "…";
  return std::string(text) + std::string(columns - taken, ' ');
}

std::string fitted_name(std::string_view name, std::size_t columns) {
  const std::size_t taken = columns_of(name);
  if (taken <= columns || columns < 3) return fitted(name, columns);
  const std::size_t behind = (columns - 1) / 2;
  const std::string_view left_out = cut(name, taken - behind);
  return std::string(cut(name, columns - 1 - behind)) + "…" +
         std::string(name.substr(left_out.size()));
}

std::string harmless(std::string_view text) {
  std::string safe(text);
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const auto byte = static_cast<unsigned char>(safe[i]);
    // The control characters U+0080 … U+009F are C2 80 … C2 9F in UTF-8.
    const bool high_control = byte >= 0x80 && byte < 0xA0 && i > 0 && safe[i - 1] == '\xC2';
    if (byte < 0x20 || byte == 0x7F) safe[i] = '?';
    if (high_control) safe[i - 1] = '?', safe[i] = '?';
  }
  return safe;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string lines;
  std::size_t used = indent;  // of this line; a title precedes the first
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    const std::size_t width = columns_of(word);
    const bool first = used == indent;
    if (!first && used + 1 + width > columns) {
      lines += '\n';
      lines.append(indent, ' ');
      used = indent;
    } else if (!first) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += width;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return lines;
}

}  // namespace feedrate::tools
