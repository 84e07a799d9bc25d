#pragma once
// Whole answers of a server: lists, credentials, and what an object is.

#include <functional>
#include <string>

#include "formats/remote/exchange.h"

namespace feedrate::formats {

/// Fetches what the request names and waits for it; asks again where that may help, with a request made
/// anew. Statuses are answers, too, but those of a server that is too busy. Throws PlacedError that begins
/// with `shown` when there is no answer, and Stopped. Any thread.
HttpAnswer http_get(const std::function<HttpRequest()>& request, const std::string& shown,
                    std::uint64_t max_bytes);

}  // namespace feedrate::formats
