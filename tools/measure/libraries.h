#pragma once
// Versions of the libraries that decide how fast this program is.

#include <string>

namespace feedrate::tools {

/// "oneDNN 2.6.3, OpenBLAS 0.3.21, …": those that run, which a system may have replaced since the
/// build. libjpeg-turbo and ISA-L cannot be asked: theirs are those of the build.
std::string library_versions();

}  // namespace feedrate::tools
