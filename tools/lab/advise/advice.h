#pragma once
// The answer of `feedrate advise`: how many threads, what the limit is, which conversion helps.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/advise/bill.h"
#include "tools/lab/advise/feeding.h"
#include "tools/lab/advise/prediction.h"
#include "tools/lab/advise/reading.h"

namespace feedrate::tools {

/// Widths of the text in columns: of the names in its tables, and of the page.
inline constexpr std::size_t advice_name_columns = 32;
inline constexpr std::size_t advice_page_columns = 100;

/// A conversion that was tried on a sample of the images.
struct Alternative {
  Variant variant;
  Prediction prediction;
  double convert_seconds = 0;  // for all images
  std::string command;         // converts all images
  bool fits = true;            // fits into memory, or the present dataset does not fit either
};

struct Advice {
  std::string dataset;
  std::uint64_t images = 0;
  std::string recipe;
  std::uint32_t batch = 0;
  std::string consumer_name;  // "lenet on cpu", "--target"; "": takes any rate
  Consumer consumer;
  Variant present;
  Prediction now;
  std::vector<Alternative> alternatives;
  std::string network;             // that is fed; "" where there is none
  std::optional<Feeding> feeding;  // of devices that are not here: --for
  std::optional<Bill> bill;        // of a dataset on a server
  std::optional<Reading> reading;  // of the same

  /// The alternative that delivers most; among equals the one with the fewest threads, then bytes.
  /// Null when no gain exceeds its doubt.
  const Alternative* best() const;
  /// What --for asks; "" without it.
  std::string feeding_text() const;
  /// The advice, then the figures.
  std::string text() const;
  /// One JSON object; values without a meaning are null.
  std::string json() const;
};

}  // namespace feedrate::tools
