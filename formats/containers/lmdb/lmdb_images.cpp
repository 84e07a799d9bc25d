// The dialect of LSUN and BasicSR: each value is an image file, unchanged. The key is its name (a
// hash, or the file's name without extension). There are no labels: every sample gets 0.

#include "formats/containers/lmdb/lmdb_dialect.h"

namespace feedrate::formats {
namespace {

class ImagesDialect final : public LmdbDialect {
 public:
  bool knows(Bytes value) const override {
    return codec_of(value) != nullptr || !looks_like(value).empty();
  }

  Sample read(const LmdbItem& item) const override {
    Sample sample;
    sample.bytes = item.value;
    sample.name = item.key;
    return sample;
  }
};

const ImagesDialect lmdb_images_row;

}  // namespace

const LmdbDialect& lmdb_images_dialect = lmdb_images_row;

}  // namespace feedrate::formats
