// Batches of a dataset on a web server are those of the disk, at any number of threads and ranks, and
// whatever goes wrong for a while.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "formats/container.h"
#include "formats/dataset.h"
#include "formats/remote/fetcher.h"
#include "formats/remote/settings.h"
#include "loader/recipe.h"
#include "tests/loader/batches.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_jpeg.h"
#include "tests/support/make_mds.h"
#include "tests/support/range_server.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr std::uint32_t samples = 200;

class UnitRemoteLoader : public ::testing::Test {
 protected:
  UnitRemoteLoader() {
    write_dataset(container("recordio"), png_codec, root_ / "set",
                  make_examples({24, 20, 3}, samples));
    remote_ = open_dataset(server_.url() + "/set/");
    local_ = open_dataset(root_ / "set");
  }

  static LoaderOptions settings(unsigned threads) {
    return {.threads = threads, .batch = 16, .epochs = 2};
  }
  static std::vector<std::string> batches(const Dataset& dataset, const LoaderOptions& made) {
    return digests(dataset, recipe("none"), made);
  }
  std::uint64_t ranges() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        server_.requests(), [](const auto& request) { return request.headers.contains("range"); }));
  }

  TempDirectory root_;
  RangeServer server_{root_.path()};
  std::unique_ptr<Dataset> remote_, local_;
};

TEST_F(UnitRemoteLoader, any_number_of_threads_gives_the_batches_of_the_disk) {
  const std::vector<std::string> expected = batches(*local_, settings(2));
  for (const unsigned threads : {0U, 1U, 3U, 8U}) {
    EXPECT_EQ(batches(*remote_, settings(threads)), expected) << threads;
  }
}

TEST_F(UnitRemoteLoader, so_does_any_rank) {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    LoaderOptions made = settings(2);
    made.share = {rank, 3};
    EXPECT_EQ(batches(*remote_, made), batches(*local_, made)) << rank;
  }
}

TEST_F(UnitRemoteLoader, blocks_of_neighbours_are_an_order_like_others) {
  LoaderOptions made = settings(2);
  made.order.block = 8;
  const std::vector<std::string> expected = batches(*local_, made);
  EXPECT_NE(expected, batches(*local_, settings(2)));
  for (const unsigned threads : {0U, 3U}) {
    made.threads = threads;
    EXPECT_EQ(batches(*remote_, made), expected) << threads;
  }
  LoaderOptions later = made;
  later.start = {made.start.seed, 1, 48};
  later.epochs = 1;
  const std::vector<std::string> rest = batches(*remote_, later);
  ASSERT_FALSE(rest.empty());
  EXPECT_TRUE(std::equal(rest.rbegin(), rest.rend(), expected.rbegin()));
  made.share = {1, 2};
  EXPECT_EQ(batches(*remote_, made), batches(*local_, made));
}

TEST_F(UnitRemoteLoader, an_image_takes_one_request_an_epoch) {
  const std::uint64_t before = ranges();
  LoaderOptions once = settings(4);
  once.epochs = 1;
  batches(*remote_, once);
  EXPECT_LE(static_cast<double>(ranges() - before), 1.02 * samples);
  EXPECT_GE(ranges() - before, samples);
}

// A reader that knows nothing of parts has the whole file, of which no part is to come again.
TEST_F(UnitRemoteLoader, a_format_that_is_read_as_a_whole_is_fetched_when_it_is_opened) {
  std::vector<std::vector<MdsRow>> shards(3);
  for (std::uint32_t i = 0; i < 30; ++i) {
    const Buffer jpeg = make_jpeg({}, 24, 20, Buffer(24 * 20 * 3, static_cast<std::byte>(i * 8)));
    std::string image(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
    image.resize(i == 7 ? 10 << 20 : image.size());  // spans pieces in which files are held
    shards[i % 3].push_back({std::move(image), i});
  }
  make_mds(root_ / "whole", shards);
  const std::vector<std::string> expected = batches(*open_dataset(root_ / "whole"), settings(2));
  remote_ = open_dataset(server_.url() + "/whole/");
  const std::uint64_t before = ranges();
  for (const unsigned threads : {0U, 3U}) EXPECT_EQ(batches(*remote_, settings(threads)), expected);
  EXPECT_EQ(ranges(), before);
}

TEST_F(UnitRemoteLoader, a_small_set_is_read_ahead_over_the_ends_of_epochs) {
  LoaderOptions made = settings(2);
  made.epochs = 8;
  const std::vector<std::string> expected = batches(*local_, made);
  const std::uint64_t before = ranges();
  EXPECT_EQ(batches(*remote_, made), expected);
  EXPECT_LT(ranges() - before, 4 * samples);  // those of the next epoch are there already
}

TEST_F(UnitRemoteLoader, connections_grow_with_latency_up_to_their_limit) {
  server_.set_faults([](const ServedRequest&) { return Fault{.delay = 20ms}; });
  remote_settings().connections = 24;
  remote_ = open_dataset(server_.url() + "/set/");
  const std::vector<std::string> expected = batches(*local_, settings(2));
  LoaderOptions made = settings(2);
  made.epochs = 6;
  const auto several = batches(*remote_, made);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), several.begin()));
  EXPECT_GT(server_.connections(), 8U);
  EXPECT_LE(remote_counts().connections, RemoteSettings().connections);
  remote_settings().connections = RemoteSettings().connections;
}

TEST_F(UnitRemoteLoader, what_passes_changes_no_batch) {
  const std::vector<std::string> expected = batches(*local_, settings(2));
  server_.set_faults([](const ServedRequest& request) -> Fault {
    std::mt19937_64 random(request.number * 104729 + 7);
    switch (random() % 20) {
      case 0:
        return {.status = 503};
      case 1:
        return {.resets = true};
      case 2:
        return {.cut_after = random() % 1000};
      case 3:
        return {.delay = 20ms};
      default:
        return {};
    }
  });
  EXPECT_EQ(batches(*remote_, settings(3)), expected);
}

TEST_F(UnitRemoteLoader, what_stays_is_the_error_of_a_sample_and_ends_at_once) {
  server_.set_faults([](const ServedRequest& request) {
    return request.number % 50 == 49 ? Fault{.status = 404} : Fault{};
  });
  expect_error([&] { batches(*remote_, settings(3)); },
               {server_.url() + "/set/data.rec", "there is no such object (status 404)"});
}

TEST_F(UnitRemoteLoader, a_loader_that_is_left_early_ends) {
  server_.set_faults([](const ServedRequest&) { return Fault{.delay = 50ms}; });
  for (int i = 0; i < 5; ++i) {
    Loader loader(*remote_, recipe("none"), settings(3));
    EXPECT_NE(loader.next(), nullptr);
  }
  server_.set_faults({});
  EXPECT_EQ(batches(*remote_, settings(3)), batches(*local_, settings(3)));
}

}  // namespace
}  // namespace feedrate::loader
