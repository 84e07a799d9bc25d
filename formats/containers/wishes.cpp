#include "formats/containers/wishes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "formats/base/edit_distance.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/remote/url.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

struct WishName {
  Wish wish;
  std::string_view name;
  std::string_view value;  // what it takes, for people
};
constexpr std::array wish_names = {WishName{Wish::image, "image", "NAME"},
                                   WishName{Wish::label, "label", "NAME"},
                                   WishName{Wish::shape, "shape", "HEIGHTxWIDTHxCHANNELS"},
                                   WishName{Wish::order, "order", "bgr|rgb"}};

/// "label=fine" at its "=".
struct Part {
  std::string_view whole, name, value;
  bool is_pair = false;
};

Part part_of(std::string_view whole) {
  const std::size_t equals = std::min(whole.find('='), whole.size());
  return {whole, whole.substr(0, equals), whole.substr(std::min(equals + 1, whole.size())),
          equals < whole.size()};
}

/// The parts of "label=fine&image=img"; a "&" at the end adds an empty one.
std::vector<Part> parts_of(std::string_view query) {
  std::vector<Part> parts;
  for (std::size_t begin = 0; begin <= query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    parts.push_back(part_of(query.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

const WishName* wish_of(const Part& part) {
  const auto* const found = std::ranges::find(wish_names, part.name, &WishName::name);
  return found == wish_names.end() || !part.is_pair ? nullptr : found;
}

std::string quoted_parts(std::span<const Wish> known) {
  std::string all;
  for (const WishName& row : wish_names) {
    if (std::ranges::find(known, row.wish) == known.end()) continue;
    all += join(all.empty() ? "?" : ", ?", row.name, "=", row.value);
  }
  return join(all, known.size() > 1 ? ", or several with & between them," : "");
}

Shape shape_of(std::string_view text) {
  std::array<std::uint32_t, 3> sides{};
  std::string_view left = text;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::size_t end = i + 1 < sides.size() ? left.find('x') : left.size();
    const auto side = parse_number<std::uint32_t>(left.substr(0, end));
    if (!side || end == std::string_view::npos) throw Error("");
    sides[i] = *side;
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  const Shape shape{sides[0], sides[1], sides[2]};
  if (!shape.plausible()) throw Error("");
  return shape;
}

/// Throws Error where the value is none that the wish takes.
void take(Wishes& wishes, Wish wish, std::string_view encoded) {
  std::string value = percent_decoded(encoded);
  if (value.empty()) throw Error("");
  switch (wish) {
    case Wish::image:
      wishes.image = std::move(value);
      return;
    case Wish::label:
      wishes.label = std::move(value);
      return;
    case Wish::shape:
      wishes.shape = shape_of(value);
      return;
    case Wish::order:
      wishes.bgr = value == "bgr";
      if (value != "bgr" && value != "rgb") throw Error("");
  }
}

/// What is typed in place of a wish, though a server may mean something by it.
const WishName* nearly(const Part& part) {
  std::string name(part.name);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* const found = std::ranges::find_if(
      wish_names, [&](const WishName& row) { return edit_distance(name, row.name) <= 1; });
  return found == wish_names.end() ? nullptr : found;
}

}  // namespace

fs::path without_wishes(const fs::path& path) {
  const std::string text = path.string();
  std::error_code ignored;
  if (fs::exists(path, ignored)) return path;
  // Names of files and of columns may hold question marks, too.
  for (std::size_t at = text.rfind('?'); at != std::string::npos && at != 0;
       at = text.rfind('?', at - 1)) {
    if (fs::path data = text.substr(0, at); fs::exists(data, ignored)) return data;
  }
  return text.substr(0, text.rfind('?'));
}

std::pair<fs::path, Wishes> split_wishes(const fs::path& path, std::span<const Wish> known) {
  const std::string text = path.string();
  const fs::path data = without_wishes(path);
  if (data == path) return {path, {}};
  Wishes wishes;
  std::vector<Wish> had;
  for (const Part& part : parts_of(std::string_view(text).substr(data.string().size() + 1))) {
    const WishName* const row = wish_of(part);
    const auto refuse = [&](const auto&... what) { fail(path, what..., "'", part.whole, "'"); };
    if (row == nullptr || std::ranges::find(known, row->wish) == known.end()) {
      refuse("expected ", quoted_parts(known),
             " behind the path (%26 is a & within a name), found ");
    }
    if (std::ranges::find(had, row->wish) != had.end()) {
      refuse("expected one ", row->name, " behind the path, found another, ");
    }
    had.push_back(row->wish);
    try {
      take(wishes, row->wish, part.value);
    } catch (const Error&) {
      refuse("expected ?", row->name, "=", row->value, " behind the path, found ");
    }
  }
  return {data, wishes};
}

std::pair<std::string, std::string> split_url_wishes(std::string_view url) {
  const bool has_query = url_scheme(url) != "s3";  // whose keys may hold a question mark
  const std::string_view fragment =
      has_query ? url.substr(std::min(url.find('#'), url.size())) : std::string_view();
  const std::string_view rest = url.substr(0, url.size() - fragment.size());
  const std::size_t at = has_query ? rest.find('?') : rest.rfind('?');
  if (at == std::string_view::npos) return {std::string(url), ""};
  std::string wishes, others;
  const auto add = [](std::string& to, std::string_view part) {
    to += join(to.empty() ? "?" : "&", part);
  };
  const std::vector<Part> parts = parts_of(rest.substr(at + 1));
  const bool some =
      std::ranges::any_of(parts, [](const Part& part) { return wish_of(part) != nullptr; });
  for (const Part& part : parts) {
    const auto refuse = [&](const auto&... what) { fail(without_secrets(url), what...); };
    if (wish_of(part) != nullptr) {
      add(wishes, part.whole);
    } else if (const WishName* const meant = nearly(part); meant != nullptr) {
      refuse("expected '", meant->name, "=' behind the URL's question mark, found '", part.name,
             "'");
    } else if (some && (!part.is_pair || !has_query)) {
      refuse(
          "expected only names, '=' and values behind the question mark, with & between them "
          "(%26 is a & within a name), found ",
          part.whole.empty() ? "an empty part" : "another part");
    } else {
      add(others, part.whole);
    }
  }
  if (!some) return {std::string(url), ""};
  return {join(rest.substr(0, at), others, fragment), wishes};
}

}  // namespace feedrate::formats
