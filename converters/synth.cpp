#include "converters/synth.h"

#include <algorithm>

#include "converters/synths/made_images.h"
#include "formats/base/error.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Synth& name##_synth;
#include "converters/synths/list.inc"
#undef FEEDRATE_ROW

std::span<const Synth* const> synths() {
  static const Synth* const all[] = {
#define FEEDRATE_ROW(name) &name##_synth,
#include "converters/synths/list.inc"
#undef FEEDRATE_ROW
  };
  return all;
}

const Synth& synth(std::string_view name) { return find_kind("made dataset", name, synths()); }

void make_archives(const Synth& synth, const std::filesystem::path& out,
                   const SynthOptions& options) {
  const auto [min, max, train_per_test] = synth.limits;
  if (options.images < min || options.images > max) {
    throw Error(join("cannot make ", options.images, " images of ", synth.name(), "; from ", min,
                     " to ", max));
  }
  PartialDirectory directory(out);
  MadeImages images(options, std::max<std::uint64_t>(1, options.images / train_per_test));
  synth.make(directory.path(), images);
  directory.commit();
}

}  // namespace feedrate::converters
