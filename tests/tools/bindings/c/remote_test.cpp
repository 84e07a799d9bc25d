// The C interface reads a dataset of a web server as one of the disk.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "formats/remote/settings.h"
#include "tests/support/range_server.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"
#include "tools/bindings/c/feedrate.h"

namespace feedrate::tools {
using namespace formats;

namespace {

/// All batches of an epoch, one after the other; empty after an error.
std::string pixels_of(const std::string& path, std::int32_t threads) {
  feedrate_dataset* dataset = nullptr;
  EXPECT_EQ(feedrate_dataset_open(path.c_str(), &dataset), FEEDRATE_OK)
      << feedrate_last_error()->text;
  if (dataset == nullptr) return {};
  feedrate_loader_options options;
  EXPECT_EQ(feedrate_loader_options_init(&options, sizeof options), FEEDRATE_OK);
  options.batch = 8;
  options.threads = threads;
  options.shuffle = 1;
  feedrate_loader* loader = nullptr;
  EXPECT_EQ(feedrate_loader_create(dataset, &options, &loader), FEEDRATE_OK);
  std::string all;
  for (;;) {
    feedrate_batch* batch = nullptr;
    const feedrate_status status = feedrate_loader_next(loader, &batch);
    if (status != FEEDRATE_OK || batch == nullptr) break;
    feedrate_batch_view view{};
    view.size = sizeof view;
    EXPECT_EQ(feedrate_batch_get(batch, &view), FEEDRATE_OK);
    all.append(static_cast<const char*>(view.images),
               std::size_t{view.count} * view.height * view.width * view.channels);
    feedrate_batch_release(batch);
  }
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
  return all;
}

TEST(UnitRemoteOfC, batches_of_a_url_are_those_of_the_disk) {
  const testing::TempDirectory root;
  testing::write_dataset(container("recordio"), png_codec, root / "set",
                         testing::make_examples({20, 16, 3}, 40));
  const testing::RangeServer server(root.path());
  const std::string expected = pixels_of((root / "set").string(), 2);
  EXPECT_EQ(expected.size(), std::size_t{40} * 20 * 16 * 3);
  for (const std::int32_t threads : {0, 3}) {
    EXPECT_EQ(pixels_of(server.url() + "/set/", threads), expected) << threads;
  }
  feedrate_dataset* dataset = nullptr;
  const std::string absent = server.url() + "/set/absent.rec";
  EXPECT_EQ(feedrate_dataset_open(absent.c_str(), &dataset), FEEDRATE_DATA);
  EXPECT_NE(std::string(feedrate_last_error()->text).find("there is no such object"),
            std::string::npos);
}

TEST(UnitRemoteOfC, a_dataset_may_have_settings_of_its_own) {
  const testing::TempDirectory root;
  testing::write_dataset(container("recordio"), png_codec, root / "set",
                         testing::make_examples({20, 16, 3}, 40));
  const testing::RangeServer server(root.path());
  const std::string url = server.url() + "/set/", cache = (root / "cache").string();
  feedrate_remote_options options;
  ASSERT_EQ(feedrate_remote_options_init(&options, sizeof options), FEEDRATE_OK);
  EXPECT_EQ(options.connections, RemoteSettings().connections);
  EXPECT_EQ(options.cache_size, RemoteSettings().cache_size);
  EXPECT_EQ(options.endpoint, nullptr);
  options.cache_dir = cache.c_str();
  options.connections = 3;
  feedrate_dataset* dataset = nullptr;
  ASSERT_EQ(feedrate_dataset_open_remote(url.c_str(), &options, &dataset), FEEDRATE_OK)
      << feedrate_last_error()->text;
  feedrate_sample* sample = nullptr;
  EXPECT_EQ(feedrate_dataset_get_sample(dataset, 7, &sample), FEEDRATE_OK);
  feedrate_sample_release(sample);
  feedrate_dataset_free(dataset);
  EXPECT_FALSE(std::filesystem::is_empty(cache));
  const auto refused = [&](std::string_view expected) {
    EXPECT_EQ(feedrate_dataset_open_remote(url.c_str(), &options, &dataset), FEEDRATE_MISUSED);
    EXPECT_NE(std::string(feedrate_last_error()->text).find(expected), std::string::npos)
        << feedrate_last_error()->text;
  };
  options.cache_size = 5;
  refused("cache_size: expected a whole number of at least 16777216, found 5");
  options.cache_size = RemoteSettings().cache_size;
  options.connections = 0;
  refused("connections: expected a whole number from 1 to 4096, found 0");
  options.connections = 1;
  options.endpoint = "ftp://host";
  refused("endpoint");
}

}  // namespace
}  // namespace feedrate::tools
