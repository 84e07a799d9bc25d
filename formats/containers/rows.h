#pragma once
// The rows of the registry in container.cpp, one line a container.

#include "formats/container.h"

namespace feedrate::formats {

extern const Container& lmdb_container;
extern const Container& recordio_container;
extern const Container& tfrecord_container;
extern const Container& png_map_container;
extern const Container& webdataset_container;
extern const Container& folder_container;

}  // namespace feedrate::formats
