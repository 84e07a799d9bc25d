#include "converters/source.h"

#include "converters/sources/rows.h"

namespace feedrate {

std::span<const Source* const> sources() {
  static const Source* const rows[] = {&mnist_source, &cifar10_source, &cifar100_source};
  return rows;
}

const Source& source(std::string_view name) { return find_kind("source", name, sources()); }

}  // namespace feedrate
