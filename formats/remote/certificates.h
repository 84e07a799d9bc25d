#pragma once
// The certificate authorities that this system trusts, for programs that carry their own TLS library: each
// system keeps them in a place of its own, which a library built elsewhere does not know.

#include <span>
#include <string>

namespace feedrate::formats {

/// Where the distributions keep them as one file: Debian, Red Hat, SUSE, Alpine and others.
std::span<const char* const> certificate_places();

/// The file that SSL_CERT_FILE names, there or not, else the first of `places` that can be read. Empty where
/// there is none: the TLS library then looks where it was told to when it was built.
std::string certificates(std::span<const char* const> places = certificate_places());

/// What to add to an error about a certificate that was not trusted: the file that certificates() found, and
/// how to name another.
std::string trusted_text(const std::string& file);

}  // namespace feedrate::formats
