#pragma once
// An LMDB through liblmdb alone: reads what our writer made, and makes what our reader reads.

#include <gtest/gtest.h>
#include <lmdb.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::testing {
using namespace formats;

class Environment {
 public:
  explicit Environment(const std::filesystem::path& directory,
                       unsigned flags = MDB_RDONLY | MDB_NOLOCK, const char* database = nullptr) {
    EXPECT_EQ(mdb_env_create(&environment_), 0);
    EXPECT_EQ(mdb_env_set_maxdbs(environment_, 1), 0);
    EXPECT_EQ(mdb_env_open(environment_, directory.c_str(), flags, 0664), 0);
    EXPECT_EQ(mdb_txn_begin(environment_, nullptr, flags & MDB_RDONLY, &transaction_), 0);
    EXPECT_EQ(
        mdb_dbi_open(transaction_, database, database == nullptr ? 0U : MDB_CREATE, &database_), 0);
  }
  ~Environment() {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
    mdb_env_close(environment_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  std::vector<std::pair<std::string, Buffer>> entries() const {
    std::vector<std::pair<std::string, Buffer>> all;
    MDB_cursor* cursor = nullptr;
    EXPECT_EQ(mdb_cursor_open(transaction_, database_, &cursor), 0);
    MDB_val key, value;
    while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
      const auto* at = static_cast<const std::byte*>(value.mv_data);
      all.emplace_back(std::string(static_cast<const char*>(key.mv_data), key.mv_size),
                       Buffer(at, at + value.mv_size));
    }
    mdb_cursor_close(cursor);
    return all;
  }
  MDB_stat stat() const {
    MDB_stat stat;
    EXPECT_EQ(mdb_stat(transaction_, database_, &stat), 0);
    return stat;
  }
  std::size_t map_size() const {
    MDB_envinfo info;
    EXPECT_EQ(mdb_env_info(environment_, &info), 0);
    return info.me_mapsize;
  }
  void put(std::string key, std::string value) {
    MDB_val k{key.size(), key.data()}, v{value.size(), value.data()};
    EXPECT_EQ(mdb_put(transaction_, database_, &k, &v, 0), 0);
  }
  void commit() { EXPECT_EQ(mdb_txn_commit(std::exchange(transaction_, nullptr)), 0); }

 private:
  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
  MDB_dbi database_ = 0;
};

}  // namespace feedrate::testing
