#pragma once
// Errors with a line of advice: what to try next. Only the code that knows what was being done knows
// whether advice fits, so it adds it there; other errors have none. And the error of a command line that
// turns out to be wrong once data is open.

#include <string>
#include <string_view>
#include <type_traits>

#include "formats/base/error.h"

namespace feedrate::tools {

class AdvisedError : public formats::Error {
 public:
  AdvisedError(const std::string& problem, std::string_view advice)
      : Error(problem), advice_(advice) {}
  const std::string& advice() const { return advice_; }

 private:
  std::string advice_;
};

/// What was asked for cannot be, as shows only once the data is open.
class Misused : public formats::Error {
 public:
  using Error::Error;
};

/// Does `work`. Its errors get this advice, unless they have some already.
template <class Work>
std::invoke_result_t<const Work&> advised(std::string_view advice, const Work& work) {
  try {
    return work();
  } catch (const AdvisedError&) {
    throw;
  } catch (const formats::Error& error) {
    throw AdvisedError(error.what(), advice);
  }
}

}  // namespace feedrate::tools
