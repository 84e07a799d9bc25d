#pragma once
// Hides cores from this process, to try on this machine what is predicted for larger ones.

#include <memory>
#include <vector>

namespace feedrate::tools {

/// The processors that remain of `usable`, in the order of `cores`, each of which is the processors of
/// one core: whole cores first, so that what remains is as the whole is. Pure function.
std::vector<int> remaining(const std::vector<std::vector<int>>& cores, unsigned usable);

/// While it lives, all threads of this process, and the threads and processes that they start, run on this
/// number of the usable cores. A thread that another one starts at the same moment may be left out. Where the
/// system refuses, and where there are no more cores, nothing is hidden.
class HiddenCores {
 public:
  explicit HiddenCores(unsigned seen);
  ~HiddenCores();
  HiddenCores(const HiddenCores&) = delete;
  HiddenCores& operator=(const HiddenCores&) = delete;

  /// That remain; 0 where none can be hidden.
  unsigned seen() const { return seen_; }

 private:
  struct Before;
  std::unique_ptr<Before> before_;  // null where nothing is hidden
  unsigned seen_ = 0;
};

/// Hides all but so many; null where none are, as for 0, which means all. Throws Misused where there are
/// fewer, and Error where the system refuses.
std::unique_ptr<HiddenCores> hide_all_but(unsigned cores);

}  // namespace feedrate::tools
