// Blocks of servers' objects that are kept on disk: never a wrong byte, and never more than allowed.

#include "formats/remote/cache.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <random>

#include "formats/remote/counts.h"
#include "formats/remote_dataset.h"
#include "tests/formats/remote/remote_fixture.h"
#include "tests/support/small_files.h"

namespace feedrate::formats {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

class UnitRemoteCache : public UnitRemote {
 protected:
  UnitRemoteCache() {
    std::mt19937 random(5);
    std::vector<Example> examples = make_examples({250, 200, 3}, samples, true);
    for (Example& example : examples) {
      for (std::byte& value : example.image.pixels) value = static_cast<std::byte>(random());
    }
    write_dataset(container("recordio"), png_codec, root_ / "set", examples);
    expected_ = local();
    settings_.cache_dir = cache_.path().string();
  }

  std::vector<std::string> read(unsigned threads = 3, const std::string& name = "set/") const {
    return digests_of(*open_url(url(name), settings_), threads);
  }
  /// Ranges of the data that the server was asked for.
  std::uint64_t ranges() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(server_.requests(), [](const ServedRequest& request) {
          return request.headers.contains("range") && request.path.ends_with("data.rec");
        }));
  }
  std::uint64_t bytes_kept() const {
    std::uint64_t sum = 0;
    for (const KeptObject& object : kept_objects(cache_.path())) sum += object.kept;
    return sum;
  }
  fs::path largest() const {
    const std::vector<KeptObject> all = kept_objects(cache_.path());
    return std::ranges::max_element(all, {}, &KeptObject::size)->file;
  }
  /// Ends its child with this status.
  template <class Work>
  pid_t forked(const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      bool is_right = false;
      try {
        is_right = work();
      } catch (const std::exception&) {
      }
      ::_exit(is_right ? 0 : 1);
    }
    return child;
  }

  TempDirectory cache_;
  RemoteSettings settings_;
  std::vector<std::string> expected_;
};

TEST_F(UnitRemoteCache, each_block_is_fetched_once) {
  const std::uint64_t size = fs::file_size(root_ / "set" / "data.rec");
  ASSERT_GT(size, 5 * mib);
  EXPECT_EQ(read(), expected_);
  const std::uint64_t first = ranges();
  EXPECT_LE(first, (size + mib - 1) / mib);
  for (const unsigned threads : {1U, 8U}) EXPECT_EQ(read(threads), expected_);
  EXPECT_EQ(ranges(), first);
}

TEST_F(UnitRemoteCache, what_was_damaged_is_fetched_again) {
  EXPECT_EQ(read(), expected_);
  const std::uint64_t first = ranges();
  const fs::path file = largest();
  const std::uint64_t size = fs::file_size(file);
  std::mt19937_64 random(3);
  for (int i = 0; i < 20; ++i) {  // bytes of blocks and of their sums
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    const std::uint64_t from = i % 2 == 0 ? 4096 : size - 500;
    out.seekp(static_cast<std::streamoff>(from + random() % (size - from)));
    out.put(static_cast<char>(random()));
    out.close();
    EXPECT_EQ(read(), expected_) << i;
  }
  EXPECT_GT(ranges(), first);
}

TEST_F(UnitRemoteCache, a_file_of_another_length_or_content_is_made_anew) {
  EXPECT_EQ(read(), expected_);
  fs::resize_file(largest(), 2 * mib);
  EXPECT_EQ(read(), expected_);
  std::ofstream(largest(), std::ios::binary) << "something else";
  EXPECT_EQ(read(), expected_);
}

TEST_F(UnitRemoteCache, no_more_is_kept_than_allowed) {
  settings_.cache_size = 3 * mib;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(read(), expected_);
    EXPECT_LE(bytes_kept(), settings_.cache_size);
  }
  EXPECT_GT(bytes_kept(), mib);
}

TEST_F(UnitRemoteCache, what_was_used_longest_ago_goes_first_and_nothing_that_is_in_use) {
  for (const char* name : {"b", "c"}) fs::copy(root_ / "set", root_ / name);
  const std::uint64_t size = fs::file_size(root_ / "set" / "data.rec");
  settings_.cache_size = 2 * size + size / 2;
  const auto has = [&](const std::string& name) {
    const std::vector<KeptObject> all = kept_objects(cache_.path());
    return std::ranges::any_of(all, [&](const KeptObject& object) {
      return object.url == url(name + "/data.rec") && object.kept > size / 2;
    });
  };
  EXPECT_EQ(read(2, "b/"), expected_);
  EXPECT_EQ(read(2, "set/"), expected_);
  EXPECT_EQ(read(2, "c/"), expected_);
  EXPECT_FALSE(has("b"));
  EXPECT_TRUE(has("set") && has("c"));
  const auto in_use = open_url(url("set/"), settings_);
  EXPECT_EQ(digests_of(*in_use), expected_);
  EXPECT_EQ(read(2, "c/"), expected_);
  EXPECT_EQ(read(2, "b/"), expected_);
  EXPECT_TRUE(has("set"));
  EXPECT_LE(bytes_kept(), settings_.cache_size);
  EXPECT_GT(clear_cache(cache_.path()), 0U);
  EXPECT_TRUE(has("set"));
  EXPECT_FALSE(has("b") || has("c"));
}

TEST_F(UnitRemoteCache, another_version_is_another_object) {
  EXPECT_EQ(read(), expected_);
  write_dataset(container("recordio"), png_codec, root_ / "other",
                make_examples({250, 200, 3}, samples));
  fs::remove_all(root_ / "set");
  fs::rename(root_ / "other", root_ / "set");
  EXPECT_EQ(read(), local());
  EXPECT_NE(read(), expected_);
}

TEST_F(UnitRemoteCache, a_weak_tag_tells_versions_of_one_second_apart) {
  const auto directory = CacheDirectory::of_process(cache_.path(), 64 * mib);
  ObjectVersion version{
      .size = 3, .etag = "W/\"1\"", .last_modified = "Sat, 28 Nov 2026 00:00:00 GMT"};
  EXPECT_TRUE(CachedObject(directory, "https://host/a", version).keep(0, as_bytes("abc")));
  EXPECT_TRUE(CachedObject(directory, "https://host/a", version).has(0));
  version.etag = "W/\"2\"";
  EXPECT_FALSE(CachedObject(directory, "https://host/a", version).has(0));
}

TEST_F(UnitRemoteCache, processes_share_it) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(forked([&] { return read(2) == expected_; }));
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  const std::uint64_t before = ranges();
  EXPECT_EQ(read(), expected_);
  EXPECT_EQ(ranges(), before);
}

TEST_F(UnitRemoteCache, it_is_right_after_processes_were_killed) {
  std::mt19937 random(11);
  for (int i = 0; i < 40; ++i) {
    const pid_t child = forked([&] { return read(2) == expected_; });
    ::usleep(static_cast<useconds_t>(random() % 60'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (i % 4 != 3) continue;
    EXPECT_EQ(read(), expected_) << i;
    clear_cache(cache_.path());
  }
}

TEST_F(UnitRemoteCache, a_process_that_forks_reads_on) {
  const auto dataset = open_url(url(), settings_);
  EXPECT_EQ(digests_of(*dataset), expected_);
  clear_cache(cache_.path());
  const pid_t child = forked([&] { return digests_of(*dataset, 2) == expected_; });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(UnitRemoteCache, holds_more_objects_than_a_process_may_usually_open_files) {
  const auto open_all = [&](rlim_t at_most) {
    const rlimit limit{64, at_most};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    const auto directory = CacheDirectory::of_process(cache_.path(), 64 * mib);
    std::vector<std::unique_ptr<CachedObject>> all;
    for (int i = 0; i < 200; ++i) {
      all.push_back(std::make_unique<CachedObject>(directory, "https://host/" + std::to_string(i),
                                                   ObjectVersion{.size = 7, .etag = "\"1\""}));
    }
    return true;
  };
  const auto refuses = [&] {
    expect_error([&] { open_all(100); },
                 {".object", "one for each object", "'ulimit -Hn' says 100"});
    return !HasFailure();
  };
  for (const pid_t child : {forked([&] { return open_all(400); }), forked(refuses)}) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(UnitRemoteCache, what_passes_changes_nothing) {
  server_.set_faults([](const ServedRequest& request) -> Fault {
    std::mt19937_64 random(request.number * 104729 + 7);
    switch (random() % 6) {
      case 0:
        return {.status = 503};
      case 1:
        return {.resets = true};
      case 2:
        return {.cut_after = random() % 500'000};
      default:
        return {};
    }
  });
  EXPECT_EQ(read(), expected_);
  server_.set_faults({});
  EXPECT_EQ(read(), expected_);
}

// As on a disk that is mounted read-only. Root may write everywhere, so it reads as nobody.
TEST_F(UnitRemoteCache, what_cannot_be_written_is_read_and_what_it_lacks_is_fetched) {
  constexpr uid_t nobody = 65534;
  const auto permit = [&](fs::perms directory, fs::perms files) {
    fs::permissions(cache_.path(), fs::perms(0700));
    for (const auto& entry : fs::directory_iterator(cache_.path())) {
      fs::permissions(entry.path(), files);
    }
    fs::permissions(cache_.path(), directory);
  };
  const auto reads_alone = [&](const auto& work) {
    const pid_t child = forked([&] {
      if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) return false;
      return work() && !HasFailure();
    });
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  };
  EXPECT_EQ(read(), expected_);
  const std::uint64_t whole = ranges();
  permit(fs::perms(0555), fs::perms(0444));
  reads_alone([&] { return read() == expected_; });
  EXPECT_EQ(ranges(), whole);
  reads_alone([&] {
    expect_error([&] { clear_cache(cache_.path()); }, {"lock", "cannot be written to"});
    return kept_objects(cache_.path()).size() > 1;
  });
  permit(fs::perms(0755), fs::perms(0644));
  std::fstream damaged(largest(), std::ios::in | std::ios::out | std::ios::binary);
  damaged.seekp(4096 + 3 * mib);
  damaged.put('\x7f');
  damaged.close();
  permit(fs::perms(0555), fs::perms(0444));
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t before = ranges();
    reads_alone([&] { return read() == expected_; });
    EXPECT_GT(ranges(), before) << "nobody wrote it anew";
    EXPECT_LT(ranges(), before + whole + samples / 2);
  }
  permit(fs::perms(0755), fs::perms(0644));
  fs::remove(largest());
  permit(fs::perms(0555), fs::perms(0444));
  reads_alone([&] { return read() == expected_; });
  permit(fs::perms(0700), fs::perms(0644));
}

TEST_F(UnitRemoteCache, a_full_disk_ends_no_reading) {
  for (const rlim_t largest : {rlim_t{0}, rlim_t{8}, rlim_t{4096}, rlim_t{5000}, 2 * mib}) {
    fs::remove_all(cache_.path());
    const auto dataset = open_url(url("set/"), settings_);
    const testing::SmallFiles files_are_small(largest);
    EXPECT_EQ(digests_of(*dataset, 3), expected_) << largest;
    EXPECT_EQ(remote_counts().cache_problem, EFBIG);
  }
  EXPECT_EQ(read(), expected_) << "what the full disk left is sound";
}

TEST_F(UnitRemoteCache, a_full_disk_has_no_room_for_another_object) {
  const auto directory = std::make_shared<CacheDirectory>(cache_.path(), 64 * mib);
  const ObjectVersion version{.size = mib, .etag = "\"1\""};
  {
    const testing::SmallFiles files_are_small(4096);
    CachedObject object(directory, "http://made/object", version);
    EXPECT_FALSE(object.may_grow());
    EXPECT_FALSE(object.has(0));
    EXPECT_FALSE(object.keep(0, Buffer(mib)));
  }
  EXPECT_TRUE(kept_objects(cache_.path()).empty()) << "nothing half-made stays";
}

TEST_F(UnitRemoteCache, what_stays_is_an_error_and_nothing_of_it_is_kept) {
  server_.set_faults([](const ServedRequest& request) {
    return request.headers.contains("range") && request.number % 3 == 0 ? Fault{.status = 404}
                                                                        : Fault{};
  });
  expect_error([&] { read(); }, {"data.rec", "there is no such object (status 404)"});
  server_.set_faults({});
  EXPECT_EQ(read(), expected_);
}

TEST_F(UnitRemoteCache, an_object_without_a_version_is_refused_as_is_a_place_that_is_no_directory) {
  const auto directory = CacheDirectory::of_process(cache_.path(), 64 * mib);
  expect_error([&] { CachedObject(directory, "https://host/a", {.size = 7}); },
               {"https://host/a", "states no version (ETag or Last-Modified)"});
  settings_.cache_dir = (root_ / "set" / "data.rec").string();
  expect_error([&] { read(); }, {"data.rec", "cannot make the directory of a cache"});
  expect_error([&] { (void)kept_objects(root_.path()); }, {"cannot open the lock of a cache"});
}

}  // namespace
}  // namespace feedrate::formats
