#include "tools/lab/logs/event.h"

#include <algorithm>

namespace feedrate::tools {
using namespace loader;
using namespace trainer;

Fields fields_of(const TrainOptions::Progress& progress, double learning_rate) {
  return {{"step", progress.step},
          {"epoch", progress.epoch},
          {"loss", progress.loss},
          {"accuracy", progress.accuracy},
          {"accuracy5", progress.accuracy5},
          {"images_per_second", progress.images_per_second},
          {"stall_percent", progress.stall_percent},
          {"learning_rate", learning_rate}};
}

Fields fields_of(const Evaluation& validation, std::uint64_t step, std::uint64_t epochs) {
  return {{"step", step},
          {"epoch", epochs},
          {"images", validation.images},
          {"loss", validation.loss},
          {"accuracy", validation.accuracy},
          {"accuracy5", validation.accuracy5},
          {"seconds", validation.seconds}};
}

Fields fields_of(const LoaderStats& stats) {
  return {{"threads", stats.threads},           {"images", stats.images},
          {"batches", stats.batches},           {"bytes_read", stats.bytes_read},
          {"wait_seconds", stats.wait_seconds}, {"busy_read", stats.busy_read},
          {"busy_decode", stats.busy_decode},   {"busy_augment", stats.busy_augment},
          {"repeated_images", stats.repeated},  {"bad_seats", stats.bad_seats}};
}

void Event::become(std::string_view next, Fields fields) {
  type = next;
  time = std::chrono::system_clock::now();
  last[type] = std::move(fields);
}

const Value* Event::find(std::string_view of_type, std::string_view key) const {
  const auto event = last.find(of_type);
  if (event == last.end()) return nullptr;
  const auto field = std::ranges::find(event->second, key, &Field::key);
  return field == event->second.end() ? nullptr : &field->value;
}

double Event::number(std::string_view of_type, std::string_view key) const {
  const Value& value = *find(of_type, key);
  const auto* whole = std::get_if<std::uint64_t>(&value);
  return whole ? static_cast<double>(*whole) : std::get<double>(value);
}

}  // namespace feedrate::tools
