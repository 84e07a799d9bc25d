#pragma once
// What an epoch of a dataset on a server asks of the server, and what that costs.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/dataset.h"

namespace feedrate::tools {

/// What is charged in USD where nothing else is given: S3 Standard in us-east-1, read from the same region;
/// to the internet, transfer costs more.
inline constexpr double s3_request_price = 0.0004;  // a thousand GETs
inline constexpr double s3_transfer_price = 0;      // a GB
inline constexpr std::string_view s3_price_source =
    "S3 Standard, us-east-1, within the region: https://aws.amazon.com/s3/pricing/";
inline constexpr std::string_view own_price_source = "--request-price, --transfer-price";

/// In USD.
struct Prices {
  std::optional<double> thousand_requests{};
  std::optional<double> gigabyte{};
};

struct Bill {
  std::uint64_t requests = 0;  // of an epoch, one for each image; `at_opening`: of a process
  std::uint64_t bytes = 0;     // of the same
  bool at_opening = false;     // files come as a whole and stay in memory: epochs ask for nothing
  std::uint64_t blocks = 0;    // requests in place of them, once, with a cache that holds all
  std::uint64_t opening_requests =
      0;                            // measured: of a process, for indices, before its first epoch
  std::uint64_t opening_bytes = 0;  // of the same
  double images_per_second = 0;
  std::uint64_t images = 0;
  std::optional<double> seconds_per_request{};  // measured
  Prices prices{};
  std::string price_source{};  // "": not known

  double bytes_per_second() const;
  /// That are under way on average (Little's law).
  std::optional<double> connections() const;
  /// Of what `requests` are of; of the first one with a cache, which is that of all.
  std::optional<double> price() const;
  std::optional<double> price_with_cache() const;
  /// Sentences.
  std::string text() const;
};

/// What a dataset on a server asks for: requests, bytes and blocks.
Bill asked_for(const formats::Dataset& dataset);

/// Prices that are given, or those of S3 for a URL of AWS's.
void set_prices(Bill& bill, const Prices& given, std::string_view url, bool own_endpoint);

}  // namespace feedrate::tools
