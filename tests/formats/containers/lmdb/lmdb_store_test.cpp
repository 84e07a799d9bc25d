#include "formats/containers/lmdb/lmdb_store.h"

#include <gtest/gtest.h>
#include <lmdb.h>

#include <cerrno>

namespace feedrate::formats {
namespace {

TEST(UnitLmdbStore, reasons_are_sentences_without_the_names_of_codes) {
  EXPECT_EQ(lmdb_reason(MDB_CORRUPTED), "Located page was wrong type");
  EXPECT_EQ(lmdb_reason(ENOSPC), "No space left on device");
  EXPECT_EQ(lmdb_reason(ENOMEM), "Cannot allocate memory (see ulimit -v)");
}

}  // namespace
}  // namespace feedrate::formats
