#include "formats/base/plugin_abi.h"

#include "formats/base/error.h"

namespace feedrate::formats {

namespace {

std::string_view version_in(std::string_view abi) { return abi.substr(0, abi.find(' ')); }

}  // namespace

std::string other_build(std::string_view place, std::string_view name, std::string_view own,
                        std::string_view found) {
  if (found == own) return "";
  const std::string_view version = version_in(own);
  if (version_in(found) == version) {
    return join(place, " belongs to another build of feedrate ", version,
                "; install both together");
  }
  return join(place, " belongs to feedrate ", version_in(found), ", this is feedrate ", version,
              "; 'pip install feedrate-", name, "==", version,
              "', or the package of that version, mends it");
}

}  // namespace feedrate::formats
