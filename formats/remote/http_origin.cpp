#include "formats/remote/http_origin.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <pugixml.hpp>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/remote/http_get.h"

namespace feedrate::formats {
namespace {

constexpr std::uint64_t max_page = std::uint64_t{64} << 20;

// "bytes 0-0/1234" → 1234.
std::optional<std::uint64_t> total_of(std::string_view content_range) {
  const std::size_t slash = content_range.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return parse_number<std::uint64_t>(content_range.substr(slash + 1));
}

bool is_missing(long status) { return status == 403 || status == 404 || status == 410; }

void append_utf8(std::string& text, std::uint32_t code) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](unsigned bits) { add(0x80 | (code >> bits & 0x3F)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add_rest(6);
  } else {
    add(0xF0 | code >> 18);
    add_rest(12);
    add_rest(6);
  }
  add_rest(0);
}

// The character that an entity, without its "&" and ";", stands for: "amp", "#43", "#x2B".
std::optional<std::uint32_t> character_of(std::string_view entity) {
  using Name = std::pair<std::string_view, std::uint32_t>;
  constexpr Name names[] = {{"amp", '&'}, {"quot", '"'}, {"apos", '\''}, {"lt", '<'}, {"gt", '>'}};
  const auto* const named = std::ranges::find(names, entity, &Name::first);
  if (named != std::end(names)) return named->second;
  if (!entity.starts_with('#')) return std::nullopt;
  entity.remove_prefix(1);
  const bool is_hex = entity.starts_with('x') || entity.starts_with('X');
  if (is_hex) entity.remove_prefix(1);
  std::uint32_t code = 0;
  const char* const last = entity.data() + entity.size();
  const auto [end, error] = std::from_chars(entity.data(), last, code, is_hex ? 16 : 10);
  constexpr std::uint32_t largest = 0x10FFFF;
  if (error != std::errc() || end != last || code > largest) return std::nullopt;
  return code;
}

// The text of an attribute, with its entities replaced: servers that are written in Go send "+" as "&#43;".
std::string unescaped(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t end = text.find(';');
    const auto code = text.front() == '&' && end != std::string_view::npos
                          ? character_of(text.substr(1, end - 1))
                          : std::nullopt;
    if (code) {
      append_utf8(plain, *code);
    } else {
      plain += text.front();
    }
    text.remove_prefix(code ? end + 1 : 1);
  }
  return plain;
}

}  // namespace

std::vector<std::string> names_linked(std::string_view page, std::string_view directory) {
  std::vector<std::string> names;
  constexpr std::string_view attribute = "href=";
  while (true) {
    const std::size_t at = page.find(attribute);
    if (at == std::string_view::npos) break;
    page.remove_prefix(at + attribute.size());
    if (page.empty() || (page.front() != '"' && page.front() != '\'')) continue;
    const std::string_view value = page.substr(1, page.find(page.front(), 1) - 1);
    const std::string link = unescaped(value);
    std::string_view name = link;
    name = name.substr(0, name.find_first_of("?#"));
    if (name.starts_with("./")) name.remove_prefix(2);
    if (!directory.empty() && name.starts_with(directory)) name.remove_prefix(directory.size());
    if (name.empty() || name.starts_with("..")) continue;
    names.push_back(percent_decoded(name));
  }
  std::erase_if(names, [](const std::string& name) {
    return name.find('/') < name.size() - 1 || name.find('\0') != std::string::npos;
  });
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

HttpOrigin::HttpOrigin(Url directory) : directory_(std::move(directory)) {}

std::string HttpOrigin::shown() const { return without_secrets(directory_.text()); }

HttpRequest HttpOrigin::request(const std::string& name) const {
  Url url = directory_;
  url.path += percent_encoded(name);
  return {url.text()};
}

Listing HttpOrigin::list() const {
  const HttpAnswer answer = http_get([&] { return request(""); }, shown(), max_page);
  if (answer.status != 200) fail(shown(), refusal(answer));
  if (!answer.content_type.starts_with("text/html")) {
    fail(shown(), "expected a list of files as HTML, found ", answer.content_type,
         "; name a file, or files by a pattern such as train-{000000..000099}.tar");
  }
  Listing listing;
  std::vector<std::string> files;
  for (std::string& name : names_linked(answer.body, directory_.path)) {
    if (!name.ends_with('/')) {
      files.push_back(std::move(name));
    } else if (name != "/") {
      listing.directories.push_back(name.substr(0, name.size() - 1));
    }
  }
  listing.files = find_all(*this, files);
  for (const std::string& name : files) {
    if (std::ranges::find(listing.files, name, &RemoteFile::name) != listing.files.end()) continue;
    fail(shown() + name, "is in the server's list, but ", absence(name));
  }
  return listing;
}

HttpAnswer HttpOrigin::first_byte(const std::string& name) const {
  return http_get(
      [&] {
        HttpRequest first_byte = request(name);
        first_byte.headers.emplace_back("Range: bytes=0-0");
        return first_byte;
      },
      shown() + name, 1);
}

std::string HttpOrigin::absence(const std::string& name) const { return refusal(first_byte(name)); }

std::optional<RemoteFile> HttpOrigin::find(const std::string& name) const {
  const std::string place = shown() + name;
  HttpAnswer answer = http_get(
      [&] {
        HttpRequest head = request(name);
        head.method = "HEAD";
        return head;
      },
      place, 0);
  std::optional<std::uint64_t> size = answer.length;
  if (answer.status != 200 || !size) {  // signed for GET alone, or a server without HEAD
    answer = first_byte(name);
    if (is_missing(answer.status)) return std::nullopt;
    size = answer.status == 416 ? std::optional<std::uint64_t>(0) : total_of(answer.content_range);
  }
  if (answer.status >= 300 && answer.status != 416) fail(place, refusal(answer));
  if (!size) fail(place, "the server does not say how large it is");
  return RemoteFile{name, {*size, answer.etag, answer.last_modified}};
}

}  // namespace feedrate::formats
