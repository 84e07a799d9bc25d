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
      text.begin(), text.end(), [](char c) { return c >= 0 && c < ' '; }, ' ');
  return text;
}

// The reason with the file and the sample. Readers name these themselves; decoders know neither.
std::string reason_with_place(const BadSample& bad) {
  if (bad.reason.starts_with(bad.place.file.string())) return bad.reason;
  return join(bad.place.file, ": sample ", bad.index, " (byte ", bad.place.offset,
              "): ", bad.reason);
}

}  // namespace

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
                       " allowed; the last one: ", reason_with_place(samples_.back())));
    }
  }
}

}  // namespace detail
}  // namespace feedrate::loader
