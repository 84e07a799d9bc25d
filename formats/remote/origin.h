#pragma once
// A server and a place on it, where objects have names: a directory of a web server, a bucket.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/remote/exchange.h"
#include "formats/remote/settings.h"

namespace feedrate::formats {

/// An object, by its name below the origin.
struct RemoteFile {
  std::string name;  // without slashes
  ObjectVersion version;
};

/// What lies directly below an origin.
struct Listing {
  std::vector<RemoteFile> files;
  std::vector<std::string> directories;  // their names, without slashes
};

/// Any thread.
class Origin {
 public:
  virtual ~Origin() = default;

  /// For people: the origin without secrets, with a slash at its end.
  virtual std::string shown() const = 0;
  /// A request for the object of this name, valid for some minutes.
  virtual HttpRequest request(const std::string& name) const = 0;
  /// Throws Error when the server makes no list.
  virtual Listing list() const = 0;
  /// Size and version of one object; nothing where there is none. Throws Error for other answers.
  virtual std::optional<RemoteFile> find(const std::string& name) const = 0;
  /// Why find() and list() do not know this object, as a sentence.
  virtual std::string absence(const std::string& name) const = 0;
  /// True when list() costs about as much as find().
  virtual bool lists_cheaply() const = 0;
};

/// Those of the names that there are, found by several threads: each waits for its answer.
std::vector<RemoteFile> find_all(const Origin& origin, const std::vector<std::string>& names);

/// A dataset's place: the directory, and the file in it, or the pattern of files, where the URL names one.
struct RemotePlace {
  std::shared_ptr<const Origin> origin;
  std::string file;  // empty: the directory itself
};

/// Looks at what a URL names. Throws Error without secrets: no such host, no such object.
RemotePlace locate_url(std::string_view url, const RemoteSettings& settings);

}  // namespace feedrate::formats
