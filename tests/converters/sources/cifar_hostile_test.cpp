#include <gtest/gtest.h>

#include "converters/source.h"
#include "tests/converters/make_cifar.h"
#include "tests/support/expect_error.h"
#include "tests/support/from_hex.h"
#include "tests/support/pickles.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;
using Inputs = std::vector<fs::path>;
using Parts = std::initializer_list<std::string_view>;

std::string read_pixels(const Source& source, const Inputs& inputs, const char* split) {
  const auto stream = source.open(inputs, split);
  std::string pixels;
  for (Sample sample; stream->next(sample);) pixels += as_text(sample.bytes);
  return pixels;
}

void expect_refused(const Source& source, const Inputs& inputs, const char* split, Parts parts) {
  expect_error([&] { read_pixels(source, inputs, split); }, parts);
}

class HostileCifar : public ::testing::Test {
 protected:
  // One file of a test split under its published name.
  void expect_batch_refused(const Source& source, const char* name, const std::string& content,
                            Parts parts) {
    SCOPED_TRACE(name);
    expect_refused(source, {write(temp_ / name, content)}, "test", parts);
  }
  const TempDirectory temp_;
};

TEST_F(HostileCifar, a_truncated_batch_names_the_file_and_the_bytes) {
  const std::string batch = cifar_batch(cifar10_layout, 4, 1);
  expect_batch_refused(source("cifar10"), "test_batch.bin", batch.substr(0, batch.size() - 1),
                       {"test_batch.bin", "12291 bytes", "3 whole records of 3073",
                        "3072 bytes more", "truncated?"});
  expect_batch_refused(source("cifar10"), "test_batch.bin", "", {"test_batch.bin", "is empty"});
  Entries entries = cifar_entries(cifar10_layout, CifarPackaging::binary);
  entries[2].second.pop_back();
  expect_refused(source("cifar10"), {write(temp_ / "a.tar", tar(entries))}, "train",
                 {"a.tar:cifar-10-batches-bin/data_batch_3.bin", "truncated?"});
}

TEST_F(HostileCifar, a_label_that_no_class_has_names_image_and_byte) {
  std::string batch = cifar_batch(cifar10_layout, 4, 1);
  batch[2 * 3073] = 10;
  expect_batch_refused(source("cifar10"), "test_batch.bin", batch,
                       {"test_batch.bin", "image 2 (byte 6146)", "label 10", "0 to 9"});
  batch[0] = '\x80';
  expect_batch_refused(source("cifar10"), "test_batch.bin", batch,
                       {"image 0 (byte 0)", "label 128"});
  batch = cifar_batch(cifar100_layout, 4, 1);
  batch[3074] = 20;
  expect_batch_refused(source("cifar100"), "test.bin", batch,
                       {"image 1 (byte 3074)", "coarse label 20", "0 to 19"});
  batch = cifar_batch(cifar100_layout, 4, 1);
  batch[3075] = 100;
  expect_batch_refused(source("cifar100"), "test.bin", batch, {"image 1 (byte 3075)", "label 100"});
}

TEST_F(HostileCifar, the_other_cifar_is_called_by_its_name) {
  for (const CifarPackaging packaging : {CifarPackaging::binary, CifarPackaging::python}) {
    const auto ten = write(temp_ / "ten.tar", tar(cifar_entries(cifar10_layout, packaging)));
    const auto hundred = write(temp_ / "h.tar", tar(cifar_entries(cifar100_layout, packaging)));
    expect_refused(source("cifar10"), {hundred}, "train",
                   {"h.tar", "CIFAR-100", "source cifar100"});
    expect_refused(source("cifar100"), {ten}, "train", {"ten.tar", "CIFAR-10", "source cifar10"});
  }
  write(temp_ / "cifar-100-binary.tar.gz", "not looked into");
  expect_refused(source("cifar10"), {temp_.path()}, "train", {"source cifar100"});
}

TEST_F(HostileCifar, the_other_cifar_under_this_ones_names_is_recognised) {
  const std::string ten = cifar_batch(cifar10_layout, 4, 1);
  const std::string hundred = cifar_batch(cifar100_layout, 4, 1);
  expect_batch_refused(source("cifar10"), "test_batch.bin", hundred,
                       {"CIFAR-100", "source cifar100"});
  expect_batch_refused(source("cifar100"), "test.bin", ten, {"CIFAR-10", "source cifar10"});
  expect_batch_refused(source("cifar10"), "test_batch", pickled_batch(cifar100_layout, hundred),
                       {"test_batch", "fine_labels", "source cifar100"});
  expect_batch_refused(source("cifar100"), "test", pickled_batch(cifar10_layout, ten),
                       {"holds labels", "not fine_labels", "source cifar10"});
}

TEST_F(HostileCifar, missing_batches_are_named) {
  Entries entries = cifar_entries(cifar10_layout, CifarPackaging::binary);
  entries.erase(entries.begin() + 1);
  unpack(temp_.path(), entries);
  expect_refused(source("cifar10"), {temp_.path()}, "train",
                 {"no train split of CIFAR-10", "missing beside", ": data_batch_2.bin",
                  "cifar-10-binary.tar.gz"});
  const auto archive = write(temp_ / "a.tar", tar(entries));
  expect_refused(source("cifar10"), {archive}, "train", {"a.tar", "holds no data_batch_2.bin"});
  EXPECT_EQ(read_pixels(source("cifar10"), {archive}, "test").size(), 2 * cifar_image_bytes);
}

TEST_F(HostileCifar, inputs_that_hold_nothing_of_it_are_listed) {
  expect_refused(source("cifar10"), {}, "train", {"cifar10", "no input"});
  expect_refused(source("cifar10"), {temp_ / "nothing"}, "train", {"nothing", "No such file"});
  expect_refused(source("cifar10"), {temp_.path()}, "train", {"found no file"});
  const auto other = write(temp_ / "o.tar", tar({{"a/b.jpg", "x"}, {"a/c.jpg", "y"}}));
  expect_refused(source("cifar10"), {other}, "train", {"o.tar", "found a/b.jpg a/c.jpg"});
  expect_refused(source("cifar10"), {write(temp_ / "notes.txt", "words")}, "test",
                 {"no test split", "test_batch.bin", "found notes.txt"});
}

TEST_F(HostileCifar, a_page_in_place_of_the_data_is_called_one) {
  const std::string page = "<!DOCTYPE html><html><body>moved";
  const auto archive = write(temp_ / "cifar-10-binary.tar.gz", page);
  expect_refused(source("cifar10"), {archive}, "train", {"cifar-10-binary.tar.gz", "HTML page"});
  expect_refused(source("cifar10"), {temp_.path()}, "train", {"HTML page"});
  expect_batch_refused(source("cifar10"), "test_batch.bin", page, {"test_batch.bin", "HTML page"});
  expect_batch_refused(source("cifar10"), "test_batch", page, {"test_batch", "HTML page"});
}

TEST_F(HostileCifar, two_that_are_equally_good_are_not_chosen_between) {
  const Entries entries = cifar_entries(cifar10_layout, CifarPackaging::binary);
  const auto one = write(temp_ / "one.tar", tar(entries));
  const auto two = write(temp_ / "two.tar.gz", tar_gz(entries));
  expect_refused(source("cifar10"), {one, two}, "train", {"one.tar", "two.tar.gz", "give one"});
  Entries twice = entries;
  twice.emplace_back("copy/data_batch_1.bin", entries[0].second);
  expect_refused(source("cifar10"), {write(temp_ / "t.tar", tar(twice))}, "train",
                 {"copy/data_batch_1.bin", "twice"});
  for (const char* name : {"a", "b"}) {
    fs::create_directory(temp_ / name);
    write(temp_ / name / "test_batch.bin", entries[5].second);
  }
  expect_refused(source("cifar10"),
                 {temp_ / "a" / "test_batch.bin", temp_ / "b" / "test_batch.bin"}, "test",
                 {"twice", "give one"});
}

TEST_F(HostileCifar, archives_cut_anywhere_are_errors) {
  for (const CifarPackaging packaging : {CifarPackaging::binary, CifarPackaging::python}) {
    const Entries entries = cifar_entries(cifar100_layout, packaging);
    const std::string good = tar_gz(entries), plain = tar(entries);
    for (std::size_t cut = 0; cut < good.size(); cut += 1 + good.size() / 200) {
      const auto file = write(temp_ / "cifar-100.tar.gz", good.substr(0, cut));
      expect_refused(source("cifar100"), {file}, "test", {"cifar-100.tar.gz"});
    }
    for (std::size_t cut = 0; cut < plain.size() - 1024; cut += 512) {
      const auto file = write(temp_ / "cifar-100.tar", plain.substr(0, cut));
      expect_refused(source("cifar100"), {file}, "train", {"cifar-100.tar"});
    }
  }
}

TEST_F(HostileCifar, a_pickle_that_would_run_something_is_refused) {
  expect_batch_refused(source("cifar10"), "test_batch",
                       "\x80\x02"
                       "cos\nsystem\nU\x02id\x85R.",
                       {"test_batch", "byte 2 of the pickle", "os.system", "not run"});
  expect_batch_refused(source("cifar10"), "test_batch", "(dp0\n.", {"test_batch", "no pickle"});
}

TEST_F(HostileCifar, a_pickle_of_other_things_says_what_is_wrong_with_it) {
  const std::string batch = cifar_batch(cifar10_layout, 4, 1);
  const std::string good = pickled_batch(cifar10_layout, batch);
  const auto replaced = [&](std::string_view from, std::string_view to) {
    std::string changed = good;
    return changed.replace(changed.find(from), from.size(), to);
  };
  const auto refused = [&](const std::string& pickle, Parts parts) {
    expect_batch_refused(source("cifar10"), "test_batch", pickle, parts);
  };
  refused("\x80\x02N.", {"test_batch", "expected a dict, found None"});
  refused(replaced("labels", "tables"), {"test_batch", "no labels"});
  refused(replaced("data", "date"), {"test_batch", "no data"});
  // The labels are 1, 8, 5, 2: one label less, one too large, one that is not a number.
  refused(replaced("K\x08K\x05", "K\x05"), {"labels: expected 4", "found 3"});
  refused(replaced("K\x08K\x05", "K\x0bK\x05"), {"labels: image 1", "label 11", "0 to 9"});
  refused(replaced("K\x08K\x05", "NK\x05"), {"labels: image 1", "expected an integer, found None"});
  refused(replaced("u1", "i1"), {"data: expected", "found 4x3072 of type i1"});
  refused(good.substr(0, good.size() / 2), {"test_batch", "cut off"});
  refused(good + "x", {"test_batch", "1 bytes follow"});
}

TEST_F(HostileCifar, class_names_must_be_as_many_as_the_classes) {
  Entries entries = cifar_entries(cifar10_layout, CifarPackaging::binary);
  entries[6].second = "airplane\nbird\n";
  expect_refused(source("cifar10"), {write(temp_ / "a.tar", tar(entries))}, "test",
                 {"batches.meta.txt", "10 classes, found 2"});
}

}  // namespace
}  // namespace feedrate::converters
