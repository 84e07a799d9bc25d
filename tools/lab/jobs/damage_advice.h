#pragma once
// The advice for errors from reading samples.

#include <type_traits>

#include "loader/bad.h"
#include "tools/console/advised_error.h"

namespace feedrate::tools {

/// Does `work`, which reads samples. Its errors get the advice to look for more damage, but for those of
/// samples that did not come: a server that refuses has nothing to do with them.
template <class Work>
std::invoke_result_t<const Work&> advised_of_damage(const Work& work) {
  return advised("'feedrate verify PATH' names every damaged sample of a dataset.", [&] {
    try {
      return work();
    } catch (const loader::SampleError& error) {
      if (error.damaged()) throw;
      throw AdvisedError(error.what(), "");
    }
  });
}

}  // namespace feedrate::tools
