#pragma once
// URLs of datasets: http, https and s3.

#include <filesystem>
#include <string>
#include <string_view>

namespace feedrate::formats {

/// The scheme of a URL, such as "https" or "s3", in lower case; empty for a path. A name of a local
/// directory may end in a colon: what is there is no URL.
std::string url_scheme(std::string_view text);

/// A URL without what may be secret: user and password, the query (a signature), a fragment. S3's have
/// neither query nor fragment: a "?" belongs to the key. A slash in a
/// password makes user and password look like host and port: all behind their colon is removed. What is no URL
/// is returned as it is.
std::string without_secrets(std::string_view url);

/// The parts of scheme://user:password@host:port/path?query, as they are written.
struct Url {
  std::string scheme;
  std::string user;   // with the password; without "@"
  std::string host;   // with the port
  std::string path;   // begins with a slash, or is empty
  std::string query;  // without "?"

  std::string text() const;
};

/// Throws Error where there is no host, or nothing that could be one.
Url parse_url(std::string_view text);

/// Letters, digits and "-._~" as they are, every other byte as %XX. RFC 3986, and what AWS asks for.
std::string percent_encoded(std::string_view text, bool keep_slashes = false);
std::string percent_decoded(std::string_view text);
/// With %XX for what no URL may hold, such as blanks, and for what is in `more`; what is encoded already stays.
std::string escaped(std::string_view text, std::string_view more = {});

}  // namespace feedrate::formats
