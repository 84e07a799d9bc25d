#pragma once
// The order of an epoch: position → index, a pure function of (seed, epoch). No state but its size.

#include <cstdint>

namespace feedrate {

/// A bijection of [0, size): every index once an epoch, in an order that looks random, without an
/// array (a keyed Feistel network with cycle walking). `shuffle == false` is the identity.
/// Any thread. The same on every machine.
class Order {
 public:
  Order(std::uint64_t size, std::uint64_t seed, std::uint64_t epoch, bool shuffle);
  std::uint64_t index(std::uint64_t position) const;
  std::uint64_t size() const { return size_; }

 private:
  std::uint64_t size_;
  std::uint64_t key_;
  unsigned half_bits_;
  bool shuffle_;
};

}  // namespace feedrate
