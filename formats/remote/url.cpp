#include "formats/remote/url.h"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view after_scheme = "://";
constexpr std::string_view hex = "0123456789ABCDEF";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t value_of(char digit) {
  const char upper = digit >= 'a' && digit <= 'f' ? static_cast<char>(digit - 'a' + 'A') : digit;
  return hex.find(upper);
}

}  // namespace

std::string url_scheme(std::string_view text) {
  const std::size_t end = text.find(after_scheme);
  if (end == std::string_view::npos || end == 0) return {};
  std::string scheme(text.substr(0, end));
  const auto allowed = [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  };
  std::error_code ignored;
  if (!std::ranges::all_of(scheme, allowed)) return {};
  if (std::filesystem::exists(join(scheme, ":"), ignored)) return {};
  for (char& c : scheme) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return scheme;
}

std::string without_secrets(std::string_view url) {
  const std::string scheme = url_scheme(url);
  if (scheme.empty()) return std::string(url);
  const std::string_view begin = url.substr(0, scheme.size() + after_scheme.size());
  std::string_view rest = url.substr(begin.size());
  if (scheme != "s3") rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t user = rest.substr(0, rest.find('/')).rfind('@');
  if (user != std::string_view::npos) rest.remove_prefix(user + 1);
  return join(begin, rest);
}

std::string Url::text() const {
  return join(scheme, after_scheme, user, user.empty() ? "" : "@", host, path,
              query.empty() ? "" : "?", query);
}

Url parse_url(std::string_view text) {
  Url url;
  url.scheme = url_scheme(text);
  std::string_view rest =
      text.substr(std::min(text.size(), url.scheme.size() + after_scheme.size()));
  const bool has_parts = url.scheme != "s3";  // whose keys may hold any character
  if (has_parts) rest = rest.substr(0, rest.find('#'));
  if (const std::size_t query = rest.find('?'); has_parts && query != std::string_view::npos) {
    url.query = rest.substr(query + 1);
    rest = rest.substr(0, query);
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(slash);
  rest = rest.substr(0, slash);
  if (const std::size_t user = rest.rfind('@'); user != std::string_view::npos) {
    url.user = rest.substr(0, user);
    rest.remove_prefix(user + 1);
  }
  url.host = rest;
  if (url.scheme.empty() || url.host.empty()) {
    throw Error(join(without_secrets(text), ": expected a URL such as https://host/directory/"));
  }
  return url;
}

std::string percent_encoded(std::string_view text, bool keep_slashes) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' ||
                       c == '~' || (c == '/' && keep_slashes);
    if (plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.append(1, '%').append(1, hex[byte >> 4]).append(1, hex[byte & 15]);
  }
  return encoded;
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const std::size_t high = value_of(text[i + 1]), low = value_of(text[i + 2]);
      if (high != std::string_view::npos && low != std::string_view::npos) {
        decoded += static_cast<char>(high << 4 | low);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

}  // namespace feedrate::formats
