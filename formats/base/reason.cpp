#include "formats/base/reason.h"

#include <sys/resource.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

#include "formats/base/error.h"

namespace feedrate::formats {

namespace {

/// "; at most 300000 KiB of memory are allowed (ulimit -v)"; "" where there is no such limit.
std::string limit_text(__rlimit_resource resource, rlim_t unit, std::string_view allowed) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return join("; at most ", limit.rlim_cur / unit, allowed);
}

std::string memory_limit() {
  return limit_text(RLIMIT_AS, 1024, " KiB of memory are allowed (ulimit -v)");
}

/// std::thread has a code for it; TBB only says so.
bool is_lack_of_threads(const std::exception& error) {
  const auto* failed = dynamic_cast<const std::system_error*>(&error);
  if (failed != nullptr) return failed->code() == std::errc::resource_unavailable_try_again;
  return std::string_view(error.what()).ends_with(std::generic_category().message(EAGAIN));
}

}  // namespace

std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return error.what();
  if (const auto* failed = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    const std::filesystem::path& other = failed->path2();
    return join(failed->path1(), other.empty() ? "" : " and ", other, ": ",
                failed->code().message());
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return "out of memory" + memory_limit();
  }
  if (!is_lack_of_threads(error)) return error.what();
  return join(
      "the system starts no further thread",
      limit_text(RLIMIT_NPROC, 1, " processes and threads of this user are allowed (ulimit -u)"),
      memory_limit());
}

}  // namespace feedrate::formats
