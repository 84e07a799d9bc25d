#include "formats/remote/certificates.h"

#include <unistd.h>

#include <cstdlib>

#include "formats/base/error.h"

namespace feedrate::formats {

std::span<const char* const> certificate_places() {
  static constexpr const char* places[] = {
      "/etc/ssl/certs/ca-certificates.crt",
      "/etc/pki/tls/certs/ca-bundle.crt",
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
      "/etc/ssl/ca-bundle.pem",
      "/etc/ssl/cert.pem",
  };
  return places;
}

std::string certificates(std::span<const char* const> places) {
  const char* named = std::getenv("SSL_CERT_FILE");
  if (named != nullptr && *named != '\0') return named;
  for (const char* place : places) {
    if (::access(place, R_OK) == 0) return place;
  }
  return {};
}

std::string trusted_text(const std::string& file) {
  return join("; the authorities trusted are those of ",
              file.empty() ? "no file that was found" : file, ": SSL_CERT_FILE names another file");
}

}  // namespace feedrate::formats
