#pragma once
// From which number the labels of a set of tf.Examples count. ImageNet's scripts write WordNet ids beside labels that
// count from 1, with 0 for a background class; other scripts count from 0, with ids or without. The records tell: an
// id has its place in ILSVRC2012's table.

#include <cstdint>
#include <optional>
#include <string>

#include "formats/containers/tfrecord/image_example.h"
#include "formats/sidecar.h"

namespace feedrate::formats {

/// True for classes whose labels Feedrate writes from 1, beside their WordNet ids.
bool counts_from_one(const ClassNames& classes);

/// What records say about the labels of their set. One thread.
class LabelEvidence {
 public:
  void add(const ImageExample& example);

  /// True when a record has a WordNet id.
  bool has_ids() const { return ids_ != 0; }
  /// True when records may tell something: by an id, or a label that is text.
  bool tells() const { return ids_ != 0 || any_text_; }
  /// True when most labels are texts that are no numbers: a damaged number does not make names of all others.
  bool has_texts() const { return 2 * texts_ > labels_; }
  /// The rule for numbers. Nothing where the labels beside synsets number classes of their own, and none was 0.
  std::optional<LabelRule> rule() const;

 private:
  bool is_imagenet() const { return 2 * (from_zero_ + from_one_) > known_; }

  std::uint64_t ids_ = 0;
  std::uint64_t known_ = 0;      // ids of the table
  std::uint64_t from_zero_ = 0;  // whose label is their place in it
  std::uint64_t from_one_ = 0;   // whose label is one more
  bool any_text_ = false;
  std::uint64_t labels_ = 0, texts_ = 0;
  bool synsets_ = false;
  bool zero_ = false;
};

}  // namespace feedrate::formats
