#include "tools/lab/advise/bill.h"

#include <fmt/format.h>

#include <cmath>

#include "formats/remote/url.h"
#include "tools/console/text.h"

namespace feedrate::tools {
namespace {

std::optional<double> price_of(const Prices& prices, std::uint64_t requests, std::uint64_t bytes) {
  if (!prices.thousand_requests && !prices.gigabyte) return std::nullopt;
  return 1e-3 * static_cast<double>(requests) * prices.thousand_requests.value_or(0) +
         1e-9 * static_cast<double>(bytes) * prices.gigabyte.value_or(0);
}

std::string dollars(double price) { return fmt::format("${:.2g}", price); }

}  // namespace

double Bill::bytes_per_second() const {
  if (images == 0) return 0;
  return images_per_second * static_cast<double>(bytes) / static_cast<double>(images);
}

std::optional<double> Bill::connections() const {
  if (!seconds_per_request) return std::nullopt;
  return images_per_second * *seconds_per_request;
}

std::optional<double> Bill::price() const { return price_of(prices, requests, bytes); }

std::optional<double> Bill::price_with_cache() const { return price_of(prices, blocks, bytes); }

std::string Bill::text() const {
  std::string text = fmt::format(
      "An epoch asks the server for {} and {}; with a --cache-dir that holds all, for {} "
      "and as many bytes, once. ",
      counted(requests, "range"), bytes_text(bytes), counted(blocks, "block"));
  text += fmt::format("{} images/s need {}/s", quantity(images_per_second),
                      bytes_text(static_cast<std::uint64_t>(bytes_per_second())));
  if (const auto under_way = connections()) {
    text +=
        fmt::format(" and, at {} a request as measured, {}", duration_text(*seconds_per_request),
                    counted(static_cast<std::uint64_t>(std::ceil(*under_way)), "connection"));
  }
  text += ". ";
  if (const auto each = price()) {
    text += fmt::format("An epoch costs {}; with the cache all of them together {} ({}).",
                        dollars(*each), dollars(*price_with_cache()), price_source);
  } else {
    text += "What it costs is not known: --request-price and --transfer-price say it.";
  }
  return text;
}

void set_prices(Bill& bill, const Prices& given, std::string_view url, bool own_endpoint) {
  bill.prices = given;
  if (given.thousand_requests || given.gigabyte) {
    bill.price_source = own_price_source;
  } else if (formats::url_scheme(url) == "s3" && !own_endpoint) {
    bill.prices = {s3_request_price, s3_transfer_price};
    bill.price_source = s3_price_source;
  }
}

}  // namespace feedrate::tools
