#include "tools/lab/advise/bill.h"

#include <fmt/format.h>

#include <cmath>

#include "formats/io/late_bytes.h"
#include "formats/remote/cache.h"
#include "formats/remote/url.h"
#include "tools/console/text.h"
#include "tools/lab/advise/served_files.h"

namespace feedrate::tools {
namespace {

std::optional<double> price_of(const Prices& prices, std::uint64_t requests, std::uint64_t bytes) {
  if (!prices.thousand_requests && !prices.gigabyte) return std::nullopt;
  return 1e-3 * static_cast<double>(requests) * prices.thousand_requests.value_or(0) +
         1e-9 * static_cast<double>(bytes) * prices.gigabyte.value_or(0);
}

std::uint64_t pieces_of(std::uint64_t size, std::uint64_t piece) {
  return (size + piece - 1) / piece;
}

std::string dollars(double price) { return fmt::format("${:.2g}", price); }

}  // namespace

Bill asked_for(const formats::Dataset& dataset) {
  Bill bill{.at_opening = true, .images = dataset.size()};
  for (const auto& file : served_files(dataset)) {
    const std::uint64_t size = file->map().size();
    bill.bytes += size;
    bill.blocks += pieces_of(size, formats::CachedObject::block_bytes);
    bill.requests += pieces_of(size, formats::late_piece_bytes);
    bill.at_opening = bill.at_opening && file->has(file->map());
  }
  if (!bill.at_opening) bill.requests = dataset.size();
  return bill;
}

double Bill::bytes_per_second() const {
  if (images == 0 || at_opening) return 0;
  return images_per_second * static_cast<double>(bytes) / static_cast<double>(images);
}

std::optional<double> Bill::connections() const {
  if (!seconds_per_request || at_opening) return std::nullopt;
  return images_per_second * *seconds_per_request;
}

std::optional<double> Bill::price() const { return price_of(prices, requests, bytes); }

std::optional<double> Bill::price_with_cache() const { return price_of(prices, blocks, bytes); }

std::string Bill::text() const {
  const std::string asked = fmt::format("{} and {}", counted(requests, "range"), bytes_text(bytes));
  std::string text;
  if (at_opening) {
    text = fmt::format(
        "A process asks the server for {} when it opens the dataset, and keeps the files in "
        "memory: "
        "epochs ask for nothing. With a --cache-dir that holds all, the processes together ask for "
        "{} and as many bytes. ",
        asked, counted(blocks, "block"));
  } else {
    text = fmt::format(
        "An epoch asks the server for {}; with a --cache-dir that holds all, for {} and as many "
        "bytes, once. ",
        asked, counted(blocks, "block"));
    if (opening_requests != 0) {
      text += fmt::format("To open the dataset, a process asked for {} and {}. ",
                          counted(opening_requests, "range"), bytes_text(opening_bytes));
    }
    text += fmt::format("{} images/s need {}/s", quantity(images_per_second),
                        bytes_text(static_cast<std::uint64_t>(bytes_per_second())));
    if (const auto under_way = connections()) {
      text +=
          fmt::format(" and, at {} a request as measured, {}", duration_text(*seconds_per_request),
                      counted(static_cast<std::uint64_t>(std::ceil(*under_way)), "connection"));
    }
    text += ". ";
  }
  if (const auto each = price()) {
    text += fmt::format("{} costs {}; with the cache all of them together {} ({}).",
                        at_opening ? "A process" : "An epoch", dollars(*each),
                        dollars(*price_with_cache()), price_source);
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
