#pragma once
// A directory of a web server.

#include <string>
#include <vector>

#include "formats/remote/origin.h"
#include "formats/remote/url.h"

namespace feedrate::formats {

class HttpOrigin final : public Origin {
 public:
  /// `directory` ends with a slash. A query, such as a signature, is sent with every request.
  explicit HttpOrigin(Url directory);

  std::string shown() const override;
  HttpRequest request(const std::string& name) const override;
  /// Read from the index page that the server shows for a directory (nginx's autoindex, Apache, Python).
  /// Throws Error where a file of the page cannot be had: nothing is left out.
  Listing list() const override;
  /// Servers forbid what there is not, too (S3 does so to whoever may not list): nothing is found then.
  std::optional<RemoteFile> find(const std::string& name) const override;
  std::string absence(const std::string& name) const override;
  bool lists_cheaply() const override { return false; }

 private:
  HttpAnswer first_byte(const std::string& name) const;

  Url directory_;
};

/// The names of files that a page links to in its own directory, in "href", and of directories: these end
/// with a slash. `directory`: its path, by which some pages link to what is in it.
std::vector<std::string> names_linked(std::string_view page, std::string_view directory = {});

}  // namespace feedrate::formats
