#include "formats/containers/lmdb/lmdb_store.h"

#include <lmdb.h>

#include <cerrno>
#include <cstdlib>

#include "formats/base/error.h"
#include "formats/containers/lmdb/lmdb_meta.h"
#include "formats/io/file.h"
#include "formats/io/page_cache.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t batch_entries = 1000;  // as in Caffe
// The size of a batch of large values: small enough that its pages stay in the cache until the
// commit writes them. Chosen by measuring 1 … 64 MiB.
constexpr std::size_t batch_bytes = std::size_t{8} << 20;
// Each batch reads pages of earlier batches, and the system maps their neighbours too: a few
// hundred KiB each time, which would add up to gigabytes. They are released after this many
// batches.
constexpr std::uint64_t batches_remembered = 64;

// Address space for the map, so that it never has to grow: a batch that is already in pages cannot
// be repeated. If less is available (ulimit -v), takes less.
constexpr std::size_t max_map = std::size_t{4} << 40;
constexpr std::size_t min_map = std::size_t{1} << 20;  // LMDB's default, where Caffe starts

// liblmdb allocates the pages of a transaction with malloc and frees them when it commits. glibc
// returns freed memory to the system once it exceeds twice the largest block ever freed; every
// batch then faults in all of its pages again, which takes half of the writing time. So free one
// large block first.
void keep_freed_pages() {
  void* volatile block = std::malloc(2 * batch_bytes);
  std::free(block);
}

}  // namespace

std::string lmdb_reason(int result) {
  std::string_view text = mdb_strerror(result);
  if (text.starts_with("MDB_")) text.remove_prefix(text.find(": ") + 2);
  return join(text, result == ENOMEM ? " (see ulimit -v)" : "");
}

struct LmdbStore::State {
  struct Close {
    void operator()(MDB_env* environment) const { mdb_env_close(environment); }
    void operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
  };

  explicit State(const std::filesystem::path& data) : path(data) {
    open(max_map);
    keep_freed_pages();
  }

  void open(std::size_t map) {
    MDB_env* created = nullptr;
    require(mdb_env_create(&created));
    environment.reset(created);
    require(mdb_env_set_mapsize(created, map));
    // The owner of the directory syncs everything to disk at the end. Without locks, liblmdb does
    // not tie a transaction to a thread.
    constexpr unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC | MDB_NOMETASYNC;
    const int opened = mdb_env_open(created, path.c_str(), flags, 0664);
    if (opened == ENOMEM && map > min_map) return open(map / 2);
    require(opened);
  }

  void begin() {
    if (transaction != nullptr) return;
    MDB_txn* begun = nullptr;
    require(mdb_txn_begin(environment.get(), nullptr, 0, &begun));
    transaction.reset(begun);
    require(mdb_dbi_open(begun, nullptr, 0, &database));
  }

  void commit() {
    entries = bytes = 0;
    if (transaction == nullptr) return;
    require(mdb_txn_commit(transaction.release()));
    int descriptor = -1;
    require(mdb_env_get_fd(environment.get(), &descriptor));
    send_to_disk(descriptor);
    if (++batches % batches_remembered == 0) release_mapped_pages({&path, 1});
  }

  // Bytes of the file, up to its last page.
  std::uint64_t size() const {
    MDB_envinfo info;
    MDB_stat stat;
    mdb_env_info(environment.get(), &info);
    mdb_env_stat(environment.get(), &stat);
    return (info.me_last_pgno + 1) * stat.ms_psize;
  }

  void require(int result) const {
    if (result == MDB_SUCCESS) return;
    if (result == MDB_MAP_FULL) {
      fail(path, "the LMDB has outgrown the address space of this process (see ulimit -v)");
    }
    // liblmdb reports a short write, as on a full disk, as an I/O error.
    fail(path, "cannot write the LMDB: ", lmdb_reason(result),
         result == EIO ? " (is the disk full?)" : "");
  }

  const std::filesystem::path path;
  std::unique_ptr<MDB_env, Close> environment;
  std::unique_ptr<MDB_txn, Close> transaction;  // ends before its environment
  MDB_dbi database = 0;
  std::size_t entries = 0;  // of the open transaction
  std::size_t bytes = 0;
  std::uint64_t batches = 0;  // committed
};

LmdbStore::LmdbStore(const std::filesystem::path& data) : state_(std::make_unique<State>(data)) {}
LmdbStore::~LmdbStore() = default;

MutableBytes LmdbStore::put(std::string_view key, std::size_t size) {
  if (state_->entries >= batch_entries || state_->bytes >= batch_bytes) state_->commit();
  state_->begin();
  MDB_val name{key.size(), const_cast<char*>(key.data())};
  MDB_val value{size, nullptr};
  constexpr unsigned flags = MDB_RESERVE | MDB_NOOVERWRITE;
  state_->require(mdb_put(state_->transaction.get(), state_->database, &name, &value, flags));
  ++state_->entries;
  state_->bytes += size;
  return {static_cast<std::byte*>(value.mv_data), size};
}

void LmdbStore::remove(std::string_view key) {
  if (state_->entries >= batch_entries) state_->commit();
  state_->begin();
  MDB_val name{key.size(), const_cast<char*>(key.data())};
  state_->require(mdb_del(state_->transaction.get(), state_->database, &name, nullptr));
  ++state_->entries;
}

void LmdbStore::commit() { state_->commit(); }

void LmdbStore::sync() {
  state_->commit();
  constexpr int now = 1;
  state_->require(mdb_env_sync(state_->environment.get(), now));
}

void LmdbStore::close() {
  state_->commit();
  // Caffe starts at LMDB's default and doubles; liblmdb needs a page to spare.
  std::uint64_t map = min_map;
  while (map <= state_->size()) map *= 2;
  state_->environment.reset();
  write_lmdb_map_size(state_->path, map);
}

}  // namespace feedrate::formats
