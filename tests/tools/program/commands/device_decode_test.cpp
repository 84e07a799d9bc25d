// `--decode device` of `feedrate train`, with the real binary on an emulated device.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "formats/codecs/packed/packed_image.h"
#include "tests/support/emulated_program.h"
#include "tests/support/mend_packed.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/program/cli/command.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using namespace testing;
using nlohmann::ordered_json;
using WordList = std::vector<std::string>;

class CommandsDeviceDecode : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto program = program_with_emulated_device(at(""));
    if (!program) GTEST_SKIP() << "this build has no CUDA plug-in";
    program_ = *program;
    write_dataset(container("recordio"), packed_codec, at("set"), make_examples({36, 52, 3}, 14));
    write_dataset(container("recordio"), packed_codec, at("val"), make_examples({40, 44, 3}, 7));
    write_dataset(container("recordio"), jpeg_codec, at("jpeg"), make_examples({36, 52, 3}, 14));
  }

  std::string at(const std::string& name) const { return (directory_ / name).string(); }

  Said run(const WordList& words) const { return run_program(program_, words); }

  WordList train(const WordList& more) const {
    WordList words{"train",    at("set"), "--network", "mlp", "--recipe", "imagenet-train:size=16",
                   "--device", "cuda",    "--batch",   "6"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  ordered_json trained(WordList more) const {
    more.emplace_back("--json");
    const Said said = run(train(more));
    EXPECT_EQ(said.code, exit_done) << said.errors;
    return said.code == exit_done ? ordered_json::parse(said.output) : ordered_json();
  }

  /// Parameters and optimizer state, and the metadata beside them.
  struct Checkpoint {
    std::string tensors;
    ordered_json metadata;
  };
  Checkpoint checkpoint(const std::string& name) const {
    const std::string all = slurp(at(name));
    std::uint64_t header = 0;
    std::memcpy(&header, all.data(), sizeof header);
    return {all.substr(8 + header), ordered_json::parse(all.substr(8, header)).at("__metadata__")};
  }

  /// Damages the first block of the sample of that number, under sums that fit.
  void damage(const std::string& dataset, int number) const {
    const std::string file = at(dataset) + "/data.rec";
    std::string all = slurp(file);
    std::size_t found = 0;
    for (int i = 0; i <= number; ++i) found = all.find(packed_magic, found + 1);
    const auto record = MutableBytes(std::as_writable_bytes(std::span(all))).subspan(found);
    const std::size_t data_at = packed_fixed + load_le<std::uint32_t>(record.data() + 16) +
                                packed_entry * load_le<std::uint32_t>(record.data() + 20);
    const auto size = load_le<std::uint32_t>(record.data() + data_at - packed_entry);
    record[data_at] = std::byte{0xff};
    mend_packed_jpeg(record.first(data_at + size));
    std::ofstream(file, std::ios::binary) << all;
  }

  std::string program_;
  TempDirectory directory_;
};

TEST_F(CommandsDeviceDecode, trains_to_the_same_bits_at_any_number_of_threads) {
  const WordList two_epochs{"--epochs",    "2", "--val",       at("val"),
                            "--val-every", "1", "--checkpoint"};
  const auto with = [&](WordList words, const WordList& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const ordered_json usual = trained(with(two_epochs, {at("usual")}));
  EXPECT_EQ(usual.at("decode"), "full");
  EXPECT_EQ(usual.at("pixels"), "u8");
  EXPECT_TRUE(usual.at("decoding").is_null());
  const Checkpoint expected = checkpoint("usual");
  EXPECT_EQ(expected.metadata.at("decode"), "full");
  for (const char* threads : {"0", "1", "2", "4"}) {
    const ordered_json found =
        trained(with(two_epochs, {at("device"), "--threads", threads, "--decode", "device"}));
    for (const char* key : {"loss", "accuracy", "images"}) {
      EXPECT_EQ(found.at(key), usual.at(key)) << key;
    }
    ASSERT_EQ(found.at("validations").size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(found.at("validations")[i].at("loss"), usual.at("validations")[i].at("loss"));
    }
    EXPECT_EQ(found.at("decode"), "device");
    EXPECT_EQ(found.at("pixels"), "packed");
    EXPECT_EQ(found.at("steps_recorded"), true);
    const ordered_json& decoding = found.at("decoding");
    EXPECT_EQ(decoding.at("images"), 2 * 14 + 2 * 7);
    EXPECT_EQ(decoding.at("packed"), 2 * 14 + 2 * 7);
    EXPECT_EQ(decoding.at("pixel_bytes"), 42 * 16 * 16 * 3);
    const Checkpoint made = checkpoint("device");
    EXPECT_EQ(made.tensors, expected.tensors) << threads << " threads";
    EXPECT_EQ(made.metadata.at("decode"), "device");
  }
}

TEST_F(CommandsDeviceDecode, resumes_what_another_decode_began) {
  trained({"--epochs", "2", "--checkpoint", at("usual")});
  for (const bool first : {true, false}) {
    WordList begin{"--epochs", "1", "--checkpoint", at("half")};
    WordList end{"--epochs", "2", "--checkpoint", at("whole"), "--resume", at("half")};
    for (const char* word : {"--decode", "device"}) (first ? begin : end).emplace_back(word);
    trained(begin);
    trained(end);
    EXPECT_EQ(checkpoint("whole").tensors, checkpoint("usual").tensors);
  }
}

TEST_F(CommandsDeviceDecode, other_modes_give_the_same) {
  for (const WordList& mode :
       {WordList{"--resident", "--steps", "5"},
        WordList{"--resident", "--no-upload", "--steps", "5"}, WordList{"--mode", "infer"}}) {
    WordList device = mode;
    device.insert(device.end(), {"--decode", "device"});
    const ordered_json usual = trained(mode), found = trained(device);
    EXPECT_EQ(found.at("loss"), usual.at("loss")) << mode.back();
    EXPECT_GT(found.at("decoding").at("packed"), 0);
  }
  const Said said = run(train({"--steps", "1", "--decode", "device"}));
  EXPECT_NE(said.output.find("\n  cuda decoded 6 of 6 images; "), std::string::npos)
      << said.output << said.errors;
}

TEST_F(CommandsDeviceDecode, validation_images_may_be_of_any_kind) {
  const ordered_json found =
      trained({"--steps", "1", "--val", at("jpeg"), "--decode", "device", "--threads", "2"});
  EXPECT_EQ(found.at("decoding").at("images"), 20);
  EXPECT_EQ(found.at("decoding").at("packed"), 6);
  EXPECT_EQ(found.at("val_accuracy"),
            trained({"--steps", "1", "--val", at("jpeg")}).at("val_accuracy"));
}

TEST_F(CommandsDeviceDecode, what_no_device_takes_is_misuse) {
  struct Mistake {
    WordList words;
    std::string_view told;
  };
  const std::vector<Mistake> mistakes{
      {{"train", at("set"), "--network", "lenet", "--decode", "device"}, "needs --device cuda"},
      {{"train", at("set"), "--network", "lenet", "--device", "cuda", "--pixels", "f32", "--decode",
        "device"},
       "--pixels u8"},
      {{"train", at("set"), "--network", "lenet", "--device", "cuda", "--pixels", "f32"},
       "--pixels f32 is for --device cpu"},
      {{"train", at("set"), "--network", "lenet", "--device", "cuda", "--compute-threads", "2"},
       "--compute-threads is for --device cpu"},
      {{"time", "lenet", "--device", "cuda", "--compute-threads", "2"},
       "--compute-threads is for --device cpu"},
      {{"train", at("jpeg"), "--network", "lenet", "--device", "cuda", "--decode", "device"},
       "holds jpeg"},
      {{"load", at("jpeg"), "--device", "cuda", "--decode", "device"}, "holds jpeg"},
      {{"train", at("set"), "--network", "lenet", "--device", "cuda", "--decode", "device",
        "--recipe", "imagenet-train:size=28+color-jitter"},
       "works on pixels"},
      {{"load", at("set"), "--device", "cuda", "--decode", "device", "--recipe",
        "imagenet-train:size=28+random-erasing"},
       "works on pixels"}};
  for (const Mistake& mistake : mistakes) {
    const Said said = run(mistake.words);
    EXPECT_EQ(said.code, exit_misused) << mistake.told << said.errors;
    EXPECT_NE(said.errors.find(mistake.told), std::string::npos) << said.errors;
  }
}

TEST_F(CommandsDeviceDecode, damage_is_told_as_it_is_without_a_device) {
  damage("set", 4);
  damage("set", 11);
  const auto without_times = [](std::string text) { return text.substr(0, text.find('\n')); };
  for (const char* command : {"train", "load"}) {
    WordList words = train({});
    words[0] = command;
    if (words[0] == "load") words.erase(words.begin() + 2, words.begin() + 4);  // the network
    WordList device = words;
    device.insert(device.end(), {"--decode", "device"});
    if (words[0] == "load")
      words.erase(std::ranges::find(words, "--device"), std::ranges::find(words, "--device") + 2);
    const Said usual = run(words), found = run(device);
    EXPECT_EQ(usual.code, exit_failed);
    EXPECT_EQ(found.code, exit_failed);
    EXPECT_EQ(without_times(found.errors), without_times(usual.errors));
    EXPECT_NE(found.errors.find("packed JPEG is damaged at byte"), std::string::npos)
        << found.errors;
  }
  for (const char* policy : {"skip", "replace"}) {
    WordList words{"load",     at("set"), "--recipe", "imagenet-train:size=28", "--batch", "6",
                   "--on-bad", policy,    "--json"};
    WordList device = words;
    device.insert(device.end(), {"--device", "cuda", "--decode", "device"});
    const Said usual = run(words), found = run(device);
    ASSERT_EQ(usual.code, exit_done) << usual.errors;
    ASSERT_EQ(found.code, exit_done) << found.errors;
    const ordered_json expected = ordered_json::parse(usual.output),
                       told = ordered_json::parse(found.output);
    EXPECT_EQ(told.at("bad"), expected.at("bad"));
    EXPECT_EQ(told.at("bad").at("samples"), 2);
    EXPECT_EQ(told.at("digest"), expected.at("digest"));
    EXPECT_EQ(told.at("images"), expected.at("images"));
  }
}

}  // namespace
}  // namespace feedrate::tools
