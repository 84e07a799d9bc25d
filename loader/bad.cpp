#include "loader/bad.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/io/file.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// Control characters become spaces: a tab or a newline would start a new column or line.
std::string one_column(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

}  // namespace

std::string reason_with_place(const Dataset& dataset, std::uint64_t index, std::string_view key,
                              const std::exception& error) {
  if (dynamic_cast<const PlacedError*>(&error) != nullptr) return error.what();
  const LocatedSample found = dataset.locate(index);
  const std::string name = key.empty() ? "" : join(" '", key, "'");
  return join(found.dataset.info().path, ": sample ", found.index, name, ": ", error.what());
}

void write_quarantine(const std::filesystem::path& file, std::span<const BadSample> samples) {
  replace_file(file, [&](OutputFile& out) {
    out.write("file\toffset\tindex\tkey\treason\n");
    for (const BadSample& bad : samples) {
      out.write(join(one_column(bad.place.file.string()), '\t', bad.place.offset, '\t', bad.index,
                     '\t', one_column(bad.key), '\t', one_column(bad.reason), '\n'));
    }
  });
}

namespace detail {

void BadList::add(std::span<Fault> faults) {
  std::ranges::sort(faults, {}, &Fault::seat);
  for (Fault& fault : faults) {
    // The budget keeps the list short, so a linear search is cheap.
    if (std::ranges::find(samples_, fault.index, &BadSample::index) != samples_.end()) continue;
    samples_.push_back(
        {dataset_.place(fault.index), fault.index, std::move(fault.key), std::move(fault.reason)});
    if (samples_.size() > budget_) {
      throw Error(join(samples_.size(), samples_.size() == 1 ? " bad sample" : " bad samples",
                       ", more than the ", budget_,
                       " allowed; the last one: ", samples_.back().reason));
    }
  }
}

}  // namespace detail
}  // namespace feedrate::loader
