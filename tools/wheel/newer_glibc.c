/* What the libstdc++.a of Debian 12's GCC takes from a glibc newer than 2.28. toolchain.sh adds it to
   libc_nonshared.a, where glibc itself keeps what is linked into every program. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* glibc 2.32: whether there has only been one thread, so that counters need no atomic operation. */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

/* glibc 2.36, of std::random_device. The kernel may refuse only before it has collected randomness. */
__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
  uint32_t bits;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}
