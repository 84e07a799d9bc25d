#pragma once
// How many images/s each part of a machine permits on the way to a device. Pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/advise/host.h"
#include "tools/lab/advise/prediction.h"

namespace feedrate::tools {

/// What a part of the machine permits.
struct Permit {
  std::string_view part;  // "cores", "memory bandwidth", "storage", "network"
  double images_per_second = 0;
  bool at_least = false;               // and nobody knows how many more
  std::optional<double> per_second{};  // bytes, as measured; absent for cores
  double per_image = 0;                // bytes
  /// Not where the images come from memory after the first epoch.
  bool always = true;
};

/// What is known of the images that move through the machine.
struct Moved {
  std::uint64_t images = 0;       // of the whole dataset
  std::uint64_t batch_bytes = 0;  // of an image in a batch
};

/// The smallest first, but those that hold for the first epoch alone last. An image moves at least its
/// stored bytes and, in memory, its pixels three times: written, and read and written on their way to
/// the device. Parts that were not measured are left out.
std::vector<Permit> permits(const Variant& variant, const Moved& moved, const Host& host);

/// The first that is known to permit less than `demand` in every epoch; null where none is.
const Permit* first_limit(const std::vector<Permit>& permits, double demand);

}  // namespace feedrate::tools
