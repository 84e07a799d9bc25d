#pragma once
// What each key means that is told of a dataset on a server: see tools/console/fields.h.

#include "tools/console/fields.h"
#include "tools/lab/advise/bill.h"
#include "tools/lab/advise/reading.h"

namespace feedrate::tools {

template <>
inline constexpr Heading heading_of<Bill>{
    "bill", "What an epoch asks of the server, and what that costs in USD."};

template <class Field>
void for_each_field(const Bill& bill, const Field& field) {
  constexpr std::string_view no_price = "no price is known";
  field("requests", bill.requests,
        {"of an epoch: one for each image; with `at_opening`, of a process"});
  field("bytes", bill.bytes, {"of the same"});
  field(
      "at_opening", bill.at_opening,
      {"whether files come as a whole when a process opens them, so that epochs ask for nothing"});
  field("blocks", bill.blocks, {"requests in place of them, once, with a cache that holds all"});
  field(
      "opening_requests", bill.opening_requests,
      {"measured: of a process when it opens the dataset, for indices and what comes as a whole"});
  field("opening_bytes", bill.opening_bytes, {"of the same"});
  field("bytes_per_second", bill.bytes_per_second(),
        {"that the predicted rate needs", Unit{"B/s"}, Digits{0}});
  field("seconds_per_request", bill.seconds_per_request,
        {"measured, on average", Unit{"s"}, Null{"nothing was fetched"}, Digits{6}});
  field("connections", bill.connections(),
        {"under way on average at that rate", Null{"nothing was fetched"}, Digits{1}});
  field("thousand_requests_price", bill.prices.thousand_requests, {"USD", Null{no_price}});
  field("gigabyte_price", bill.prices.gigabyte, {"USD", Null{no_price}});
  field("price", bill.price(), {"of `requests` and `bytes`, USD", Null{no_price}});
  field("price_with_cache", bill.price_with_cache(),
        {"of all epochs and processes together, USD", Null{no_price}});
  field("price_source", unless_empty(bill.price_source), {"whose prices they are", Null{no_price}});
}

template <>
inline constexpr Heading heading_of<Reading>{
    "reading", "How to read a dataset that lies on a server. Rates are images/s."};

template <class Field>
void for_each_field(const Reading& reading, const Field& field) {
  field("way", std::string(name(reading.way)),
        {"`full`: where it lies, shuffled among all. `blocks`: through a cache, in a shuffle that "
         "keeps "
         "blocks together. `copy`: from this machine"});
  field("wanted", reading.wanted,
        {"by the consumer, or by the threads that decode", Unit{"images/s"}, Digits{1}});
  field("full", reading.full, {"measured, a request for each sample", Unit{"images/s"}, Digits{1}});
  field("blocks", reading.blocks,
        {"as the server gave blocks of 1 MiB", Unit{"images/s"},
         Null{"the dataset has no block, or comes from a cache"}, Digits{1}});
  field("shuffle_blocks", reading.block_images, {"images of a MiB, for `--shuffle-blocks`"});
  field("seconds_to_copy", reading.seconds_to_copy,
        {"all of it, at that rate", Unit{"s"}, Null{"no block was measured"}, Digits{1}});
}

}  // namespace feedrate::tools
