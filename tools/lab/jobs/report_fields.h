#pragma once
// Parts that the results of several jobs have: see tools/console/fields.h.

#include "loader/loader.h"
#include "tools/console/fields.h"
#include "tools/lab/jobs/device_decoding.h"

namespace feedrate::tools {

inline constexpr About about_complete{"false: interrupted before its end"};
inline constexpr About about_pixels{
    "what batches hold: `u8`, `f32`, `f16`; `packed` with `--decode device`"};
inline constexpr About about_decode{
    "JPEGs were decoded in full: `full`, scaled where a crop allows it: `scaled`, or in full by "
    "`device`"};
inline constexpr About about_remote{"what the server of the dataset was asked for",
                                    Null{"it is on this machine"}};
inline constexpr About about_decoding{"of packed JPEGs, with `--decode device`",
                                      Null{"without `--decode device`"}};

/// Seconds.
struct Busy {
  double read = 0;
  double decode = 0;
  double augment = 0;
};
inline Busy busy_of(const loader::LoaderStats& stats) {
  return {stats.busy_read, stats.busy_decode, stats.busy_augment};
}

template <class Field>
void for_each_field(const Busy& busy, const Field& field) {
  field("read", busy.read, {"reading samples", Unit{"s"}, Digits{6}});
  field("decode", busy.decode, {"decoding images", Unit{"s"}, Digits{6}});
  field("augment", busy.augment, {"resizing and augmenting", Unit{"s"}, Digits{6}});
}

template <>
inline constexpr Heading heading_of<DeviceDecoded>{
    "device-decoding",
    "What a device decoded for `load` and `train`, validations and all ranks included."};

template <class Field>
void for_each_field(const DeviceDecoded& decoded, const Field& field) {
  const trainer::DecodeCounts& counts = decoded.counts;
  field("name", decoded.device, {"`cuda`"});
  field("images", counts.images, {"in batches uploaded"});
  field("packed", counts.packed,
        {"of these, decoded by the device; the loader's threads decoded the others"});
  field("too_large", counts.too_large,
        {"of the others, packed JPEGs too large for their places in a batch"});
  field("uploaded_bytes", counts.uploaded_bytes,
        {"packed bytes, pixels of the others, and what describes them"});
  field("pixel_bytes", decoded.pixel_bytes, {"what the pixels of all images would have taken"});
}

}  // namespace feedrate::tools
