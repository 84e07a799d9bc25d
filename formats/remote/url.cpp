#include "formats/remote/url.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/text.h"

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

bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }

// "me:secret" and "host:80" of what is behind "://", though either may be empty.
std::pair<std::string_view, std::string_view> split_host(std::string_view rest,
                                                         std::string_view scheme) {
  const std::string_view both = rest.substr(0, rest.find_first_of(scheme == "s3" ? "/" : "/?#"));
  const std::size_t at = both.rfind('@');
  if (at == std::string_view::npos) return {both.substr(0, 0), both};
  return {both.substr(0, at), both.substr(at + 1)};
}

bool is_port(std::string_view port) {
  const auto number = parse_number<std::uint16_t>(port);
  return port.empty() || (number && *number != 0);
}

// A host with or without a port, or a bucket.
bool is_host(std::string_view host, std::string_view scheme) {
  const auto is_of_bucket = [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
  };
  if (scheme == "s3") return !host.empty() && std::ranges::all_of(host, is_of_bucket);
  std::string_view name = host.substr(0, host.find(':'));
  if (host.starts_with('[')) name = host.substr(0, std::min(host.find(']'), host.size() - 1) + 1);
  std::string_view port = host.substr(name.size());
  if (port.starts_with(':')) {
    port.remove_prefix(1);
  } else if (!port.empty()) {
    return false;
  }
  const bool is_address = name.size() > 2 && name.starts_with('[') && name.ends_with(']');
  if (is_address) name = name.substr(1, name.size() - 2);
  const auto may_be = [&](char c) {  // hosts may be named beyond ASCII
    if (is_address)
      return is_letter_or_digit(c) || std::string_view(":.%-_~").find(c) != std::string_view::npos;
    return static_cast<unsigned char>(c) > ' ' &&
           std::string_view("\"<>\\^`{|}[]@/?#\x7f").find(c) == std::string_view::npos;
  };
  return !name.empty() && std::ranges::all_of(name, may_be) && is_port(port);
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
  std::string_view host = split_host(rest, scheme).second;
  // A password that is not encoded may hold a slash: then it is no host that ends there.
  const std::size_t at = rest.rfind('@');
  if (!is_host(host, scheme) && at != std::string_view::npos) {
    rest.remove_prefix(at + 1);
    host = split_host(rest, scheme).second;
  }
  const bool is_whole = is_host(host, scheme);
  const std::string_view name = is_whole ? host : host.substr(0, host.find_first_of(":?#"));
  rest.remove_prefix(static_cast<std::size_t>(host.end() - rest.begin()));
  if (scheme != "s3") rest = rest.substr(0, rest.find_first_of("?#"));
  return join(begin, name, name.size() == host.size() ? "" : "…", rest);
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
  const auto [user, host] = split_host(rest, url.scheme);
  url.user = user;
  url.host = host;
  url.path = rest.substr(static_cast<std::size_t>(host.end() - rest.begin()));
  const std::string shown = without_secrets(text);
  if (url.scheme.empty() || (url.host.empty() && url.user.empty())) {
    throw Error(join(shown, ": expected a URL such as https://host/directory/"));
  }
  if (is_host(url.host, url.scheme)) return url;
  if (!has_parts) {
    throw Error(
        join(shown, ": expected s3://BUCKET/… with a name of letters, digits, '.', '-' and '_'"));
  }
  throw Error(
      join(shown,
           ": expected HOST or HOST:PORT behind ://; in a user or a password, '/', '?' and '#' are "
           "written as %2F, %3F and %23"));
}

std::string escaped(std::string_view text, std::string_view more) {
  constexpr std::string_view never = "\"<>\\^`{|}";
  std::string whole;
  for (const char c : text) {
    const bool may_stay = c > ' ' && c < '\x7f' && never.find(c) == std::string_view::npos &&
                          more.find(c) == std::string_view::npos;
    whole += may_stay ? std::string(1, c) : percent_encoded({&c, 1});
  }
  return whole;
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
