#include "converters/synth.h"

#include "converters/synths/rows.h"
#include "formats/io/partial_directory.h"

namespace feedrate::converters {
using namespace formats;

std::span<const Synth* const> synths() {
  static const Synth* const rows[] = {&mnist_synth, &cifar10_synth, &imagenet_synth};
  return rows;
}

const Synth& synth(std::string_view name) { return find_kind("made dataset", name, synths()); }

void make_archives(const Synth& synth, const std::filesystem::path& out,
                   const SynthOptions& options) {
  PartialDirectory directory(out);
  synth.make(directory.path(), options);
  directory.commit();
}

}  // namespace feedrate::converters
