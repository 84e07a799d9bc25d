#include "formats/verify/published_counts.h"

namespace feedrate::formats {

std::span<const PublishedCounts> published_counts() {
  // Several sets use MNIST's packaging. Archive sizes are those of MNIST's and Fashion-MNIST's
  // image files, of CIFAR's binary and python archives, and of ILSVRC2012's image archives.
  static constexpr PublishedCounts rows[] = {
      {"mnist", "train", "MNIST", 60'000, 10, 5'421, 6'742, {9'912'422}},
      {"mnist", "train", "Fashion-MNIST or KMNIST", 60'000, 10, 6'000, 6'000, {26'421'880}},
      {"fashion-mnist", "train", "Fashion-MNIST", 60'000, 10, 6'000, 6'000, {26'421'880}},
      {"fashion-mnist", "test", "Fashion-MNIST", 10'000, 10, 1'000, 1'000, {4'422'102}},
      {"mnist", "train", "EMNIST balanced", 112'800, 47, 2'400, 2'400},
      {"mnist", "train", "EMNIST letters", 124'800, 26, 4'800, 4'800},
      {"mnist", "train", "EMNIST digits", 240'000, 10, 24'000, 24'000},
      {"mnist", "test", "MNIST", 10'000, 10, 892, 1'135, {1'648'877}},
      {"mnist", "test", "Fashion-MNIST or KMNIST", 10'000, 10, 1'000, 1'000, {4'422'102}},
      {"mnist", "test", "EMNIST balanced", 18'800, 47, 400, 400},
      {"mnist", "test", "EMNIST letters", 20'800, 26, 800, 800},
      {"mnist", "test", "EMNIST digits", 40'000, 10, 4'000, 4'000},
      {"cifar10", "train", "CIFAR-10", 50'000, 10, 5'000, 5'000, {170'052'171, 170'498'071}},
      {"cifar10", "test", "CIFAR-10", 10'000, 10, 1'000, 1'000, {170'052'171, 170'498'071}},
      {"cifar100", "train", "CIFAR-100", 50'000, 100, 500, 500, {168'513'733, 169'001'437}},
      {"cifar100", "test", "CIFAR-100", 10'000, 100, 100, 100, {168'513'733, 169'001'437}},
      {"imagenet", "train", "ILSVRC2012", 1'281'167, 1'000, 732, 1'300, {147'897'477'120}},
      {"imagenet", "val", "ILSVRC2012", 50'000, 1'000, 50, 50, {6'744'924'160}},
  };
  return rows;
}

}  // namespace feedrate::formats
