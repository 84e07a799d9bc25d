#include "tools/lab/advise/permits.h"

#include <algorithm>

namespace feedrate::tools {

std::vector<Permit> permits(const Variant& variant, const Moved& moved, const Host& host) {
  const double stored = static_cast<double>(variant.bytes) /
                        static_cast<double>(std::max<std::uint64_t>(1, moved.images));
  const double in_memory = stored + 3 * static_cast<double>(moved.batch_bytes);
  std::vector<Permit> found{{.part = "cores", .images_per_second = variant.at_max.rate()}};
  const auto add = [&](Permit permit) {
    if (!permit.per_second || permit.per_image <= 0) return;
    permit.images_per_second = *permit.per_second / permit.per_image;
    found.push_back(permit);
  };
  add({.part = "memory bandwidth",
       .at_least = !host.memory_saturated,
       .per_second = host.memory,
       .per_image = in_memory});
  if (variant.remote) {
    const Supply& supply = variant.at_max;
    add({.part = "network",
         .at_least = supply.read < supply.decode + supply.augment,  // else the cores waited for it
         .per_second = supply.rate() * stored,
         .per_image = stored});
  } else {
    add({.part = "storage",
         .per_second = host.storage,
         .per_image = stored,
         .always = variant.bytes > host.memory_bytes});
  }
  std::ranges::stable_sort(
      found, {}, [](const Permit& one) { return std::pair(!one.always, one.images_per_second); });
  return found;
}

const Permit* first_limit(const std::vector<Permit>& permits, double demand) {
  const auto found = std::ranges::find_if(permits, [&](const Permit& one) {
    return one.always && !one.at_least && one.images_per_second < demand;
  });
  return found == permits.end() ? nullptr : &*found;
}

}  // namespace feedrate::tools
