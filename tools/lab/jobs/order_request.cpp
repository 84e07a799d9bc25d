#include "tools/lab/jobs/order_request.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "formats/base/setting.h"
#include "formats/base/text.h"
#include "formats/io/file.h"
#include "loader/order/joined.h"
#include "tools/console/console.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

constexpr std::string_view balanced = "balanced";

std::optional<double> real_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A number from each line, as `parse` reads it.
template <class Number, class Parse>
std::vector<Number> numbers_in(const std::filesystem::path& file, const char* expected,
                               Parse parse) {
  const std::string content = read_text(file);
  std::vector<Number> numbers;
  for (std::string_view rest = content; !rest.empty();) {
    const std::string_view line = trimmed(take_line(rest));
    const auto number = parse(line);
    if (!number) {
      fail(file, "line ", numbers.size() + 1, ": expected ", expected, ", found '", line, "'");
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<double> weights_of(const std::string& weights, const Dataset& dataset,
                               const BadLabels& bad) {
  if (weights == balanced) return balancing_weights(told_labels(dataset, bad).of_samples);
  auto numbers = numbers_in<double>(weights, "a number", real_number);
  if (numbers.size() != dataset.size()) {
    fail(weights, "holds ", numbers.size(), " weights, expected one for each of the ",
         dataset.size(), " samples");
  }
  return numbers;
}

struct Groups {
  std::uint32_t classes, each;
};

Groups read_groups(std::string_view text) {
  const auto number = [](std::string_view digits) {
    return parse_number<std::uint32_t>(digits).value_or(0);
  };
  const std::size_t cross = text.find('x');
  const Groups groups{number(text.substr(0, cross)),
                      cross == std::string_view::npos ? 0 : number(text.substr(cross + 1))};
  if (groups.classes == 0 || groups.each == 0) {
    throw Error(join("expected CLASSESxSAMPLES, as in 8x4, found '", text, "'"));
  }
  return groups;
}

struct MixWord {
  std::string_view path;
  double weight;
};

std::vector<MixWord> words_of(std::string_view text) {
  std::vector<MixWord> words;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const std::size_t colon = word.rfind(':');
    const auto weight =
        colon == std::string_view::npos ? std::nullopt : real_number(word.substr(colon + 1));
    if (!weight || !above_zero.holds(*weight)) {
      throw Error(join("expected PATH:WEIGHT, with a weight above 0, found '", word, "'"));
    }
    words.push_back({word.substr(0, colon), *weight});
  }
  return words;
}

void note_slow_shuffle(const Dataset& dataset, bool shuffle) {
  const DatasetInfo& info = dataset.info();
  if (shuffle && !info.slow_shuffle.empty())
    note(join(shown_path(info.path), ": ", info.slow_shuffle));
}

OpenedData mix_of(std::string_view text, std::uint64_t draws, bool shuffle) {
  std::vector<std::shared_ptr<const Dataset>> datasets;
  std::vector<MixMember> parts;
  for (const MixWord& word : words_of(text)) {
    datasets.push_back(open_dataset(word.path));
    note_slow_shuffle(*datasets.back(), shuffle);
    parts.push_back({datasets.back()->size(), word.weight});
  }
  auto joined = std::make_unique<Joined>(std::move(datasets));
  auto picks = mixed(std::move(parts), draws != 0 ? draws : joined->size(), shuffle);
  return {std::move(joined), std::move(picks)};
}

}  // namespace

void check_groups(std::string_view text) { read_groups(text); }

void check_mix(std::string_view text) { words_of(text); }

std::vector<std::filesystem::path> weight_files(const OrderRequest& request) {
  if (request.weights == balanced) return {};
  return {request.weights};
}

std::vector<std::filesystem::path> mix_paths(const OrderRequest& request) {
  std::vector<std::filesystem::path> paths;
  for (const MixWord& word : words_of(request.mix)) paths.emplace_back(word.path);
  return paths;
}

Labels told_labels(const Dataset& dataset, const BadLabels& bad) {
  Labels labels = labels_of(dataset, bad.policy, bad.budget);
  if (!labels.bad.empty()) warn(labels.note());
  return labels;
}

OpenedData open_data(const std::filesystem::path& path, const OrderRequest& request, bool shuffle,
                     const BadLabels& bad) {
  if (!request.mix.empty()) return mix_of(request.mix, request.draws, shuffle);
  OpenedData data{open_dataset(path), nullptr};
  const Dataset& dataset = *data.dataset;
  note_slow_shuffle(dataset, shuffle && request.order.empty());
  if (!request.order.empty()) {
    data.picks =
        listed(numbers_in<std::uint64_t>(request.order, "an index", parse_number<std::uint64_t>),
               dataset.size());
  } else if (!request.weights.empty()) {
    data.picks = weighted(weights_of(request.weights, dataset, bad),
                          request.draws != 0 ? request.draws : dataset.size());
  } else if (!request.groups.empty()) {
    const Groups groups = read_groups(request.groups);
    data.picks =
        grouped_by_class(told_labels(dataset, bad).of_samples, groups.classes, groups.each);
  }
  return data;
}

}  // namespace feedrate::tools
