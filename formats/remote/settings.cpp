#include "formats/remote/settings.h"

#include "formats/base/error.h"
#include "formats/remote/url.h"

namespace feedrate::formats {

RemoteSettings& remote_settings() {
  static RemoteSettings settings;
  return settings;
}

void check_endpoint(std::string_view url) {
  const std::string scheme = parse_url(url).scheme;
  if (scheme == "http" || scheme == "https") return;
  throw Error(join(without_secrets(url), ": expected a URL that begins with https:// or http://"));
}

}  // namespace feedrate::formats
