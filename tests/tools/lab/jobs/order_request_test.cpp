// What an epoch holds, as the command line says it.

#include "tools/lab/jobs/order_request.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;

class UnitOrderRequest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"one", "two"}) {
      write_dataset(container("lmdb"), raw_codec, directory_ / name,
                    make_examples({28, 28, 1}, 30));
    }
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }
  std::string file(const std::string& text) const {
    std::ofstream(at("list")) << text;
    return at("list");
  }
  OpenedData opened(const OrderRequest& request) const {
    return open_data(at("one"), request, true, {});
  }
  void refused(const OrderRequest& request, std::initializer_list<std::string_view> words) const {
    expect_error([&] { opened(request); }, words);
  }

 private:
  TempDirectory directory_;
};

TEST_F(UnitOrderRequest, nothing_asked_is_every_sample) {
  const OpenedData data = opened({});
  EXPECT_EQ(data.picks, nullptr);
  EXPECT_EQ(epoch_size(data), 30U);
}

TEST_F(UnitOrderRequest, lists_and_weights_come_from_files) {
  const OpenedData listed = opened({.order = file("7\n 7 \n29")});
  EXPECT_EQ(epoch_size(listed), 3U);
  EXPECT_EQ(listed.picks->index(1, 0, 2), 29U);
  std::string weights;
  for (int i = 0; i < 30; ++i) weights += i == 4 ? "2.5\n" : "0\n";
  const OpenedData weighted = opened({.weights = file(weights), .draws = 50});
  EXPECT_EQ(epoch_size(weighted), 50U);
  EXPECT_EQ(weighted.picks->index(1, 0, 49), 4U);
  EXPECT_EQ(epoch_size(opened({.weights = "balanced"})), 30U);
  EXPECT_EQ(opened({.groups = "3x2"}).picks->together(), 6U);
}

TEST_F(UnitOrderRequest, a_mix_opens_its_datasets) {
  const OpenedData data = opened({.mix = at("one") + ":0.7," + at("two") + ":0.3", .draws = 20});
  EXPECT_EQ(data.dataset->size(), 60U);
  EXPECT_EQ(epoch_size(data), 20U);
  int first = 0;
  for (std::uint64_t place = 0; place < 20; ++place)
    first += data.picks->index(1, 0, place) < 30 ? 1 : 0;
  EXPECT_EQ(first, 14);
}

TEST_F(UnitOrderRequest, what_makes_no_sense_is_refused_with_its_place) {
  refused({.order = file("1\n-2\n")}, {"list: line 2: expected an index, found '-2'"});
  refused({.order = file("1\n30\n")}, {"index 30 at place 1", "30 samples"});
  refused({.order = file("")}, {"lists no samples"});
  refused({.weights = file("1\n2\n")}, {"list: holds 2 weights", "each of the 30 samples"});
  refused({.weights = file("1\nx\n")}, {"list: line 2: expected a number, found 'x'"});
  refused({.weights = at("nowhere")}, {"nowhere"});
  refused({.groups = "8"}, {"expected CLASSESxSAMPLES, as in 8x4, found '8'"});
  refused({.groups = "99x1"}, {"99 classes requested"});
  refused({.mix = at("one")}, {"expected PATH:WEIGHT"});
  refused({.mix = at("one") + ":1," + at("two") + ":-1"},
          {"expected PATH:WEIGHT, with a weight above 0"});
  refused({.mix = at("nowhere") + ":1"}, {"nowhere"});
}

}  // namespace
}  // namespace feedrate::tools
