#pragma once
// Versions of the libraries that decide how fast this program is.

#include <string>

namespace feedrate::tools {

/// "oneDNN 2.6.3, OpenBLAS 0.3.21, …": the versions loaded at run time, which may differ from those
/// of the build. libjpeg-turbo and ISA-L do not report one: theirs are those of the build. oneDNN and
/// OpenBLAS are left out where the CPU backend is not installed.
std::string library_versions();

}  // namespace feedrate::tools
