#include <span>
#include <string>

#include "converters/synths/made_folder.h"
#include "converters/synths/made_tar.h"
#include "formats/base/error.h"
#include "formats/digests/digest.h"
#include "formats/io/gzip.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr unsigned species = 1000;  // of the published 10,000

// Random, like a UUID.
std::string any_name(std::uint64_t seed, MadeSplit split, std::uint64_t number) {
  const std::uint64_t key = mix64(seed) + static_cast<std::uint64_t>(split);
  const std::uint64_t bits[] = {random_bits(key, 2 * number), random_bits(key, 2 * number + 1)};
  const std::string all = hex(std::as_bytes(std::span(bits)));
  const std::string_view digits = all;
  return join(digits.substr(0, 8), "-", digits.substr(8, 4), "-", digits.substr(12, 4), "-",
              digits.substr(16, 4), "-", digits.substr(20));
}

void make_inaturalist(const std::filesystem::path& directory, MadeImages& images) {
  const unsigned classes = made_classes(images, species);
  for (const MadeSplit split : {MadeSplit::train, MadeSplit::test}) {
    const std::string root = split == MadeSplit::train ? "train" : "val";
    write_made_tar<GzipFile>(directory / (root + ".tar.gz"), [&](auto& tar) {
      make_photographs(images, split, classes,
                       [&](unsigned label, std::uint64_t number, Bytes jpeg) {
                         tar.add(join(root, "/", std::to_string(100'000 + label).substr(1),
                                      "_Animalia_Picta_Formalia_", name_of_class(label, classes),
                                      "/", any_name(images.seed(), split, number), ".jpg"),
                                 jpeg);
                       });
    });
  }
}

const Synth inaturalist_row("inaturalist",
                            "drawn scenes in iNaturalist's tars of species: N to train, N/27 to "
                            "val",
                            {2, 3'000'000, 27}, make_inaturalist);

}  // namespace

const Synth& inaturalist_synth = inaturalist_row;

}  // namespace feedrate::converters
