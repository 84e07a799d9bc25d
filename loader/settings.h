#pragma once
// What users set about a loader, wherever they do so: the shell, plans of benchmarks, Python, C.
// LoaderSettings holds the values and their defaults, for_each_setting() the rest about each of them;
// every face is made from this table. Pure functions; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "formats/base/setting.h"
#include "loader/loader.h"

namespace feedrate::loader {

// A larger number is a typo, and would only exhaust memory or time.
inline constexpr std::uint64_t max_batch = 65536;  // images
inline constexpr std::uint64_t max_epochs = 1'000'000;
inline constexpr std::uint64_t max_start_epoch = 1'000'000'000'000;  // leaves room to count on
inline constexpr std::uint64_t max_draws = 1'000'000'000'000;
inline constexpr std::uint64_t max_ranks = 65536;
inline constexpr std::uint64_t max_io_threads = 64;

// In the order of the enumerators.
inline constexpr std::string_view pixel_words[] = {name(PixelType::u8), name(PixelType::f32),
                                                   name(PixelType::f16)};
inline constexpr std::string_view layout_words[] = {name(PixelLayout::interleaved),
                                                    name(PixelLayout::planar)};
inline constexpr std::string_view decode_words[] = {name(DecodedSize::full),
                                                    name(DecodedSize::scaled)};
/// In place of these words, where a device decodes packed JPEGs.
inline constexpr std::string_view device_word = "device";
inline constexpr std::string_view last_words[] = {"partial", "drop", "wrap", "pad"};
inline constexpr std::string_view bad_words[] = {"fail", "replace", "skip"};

/// Where a run begins: LoaderState without its seed.
struct StartPlace {
  std::uint64_t epoch = 0;
  std::uint64_t position = 0;  // images of that epoch which are left out
  bool operator==(const StartPlace&) const = default;
};
/// "EPOCH" or "EPOCH:IMAGES"; throws Error, as the read_value() of other types does.
void read_value(const formats::Setting& row, std::string_view text, StartPlace& place);
std::string value_text(const formats::Setting& row, const StartPlace& place);

struct LoaderSettings {
  std::string recipe = "none";
  std::uint32_t batch = 64;
  std::optional<unsigned> threads{};  // nothing: their best number is found
  PixelType pixels = PixelType::u8;
  std::optional<PixelLayout> layout{};  // nothing: the usual one
  std::vector<double> mean{};
  std::vector<double> deviation{};
  DecodedSize decode = DecodedSize::full;
  std::optional<std::uint64_t> epochs = 1;  // nothing: without end
  std::uint64_t seed = 1;
  std::optional<bool> shuffle{};  // nothing: see shuffles()
  std::uint64_t window = 0;
  std::uint64_t shuffle_blocks = 0;
  LastBatch last = LastBatch::partial;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  StartPlace start{};
  unsigned io_threads = 1;
  bool crop_index = true;
  BadPolicy on_bad = BadPolicy::fail;
  std::uint64_t bad_budget = 100;

  /// Not for users: as PyTorch's DistributedSampler has it, which says so.
  UnevenShares uneven = UnevenShares::one_more;
  bool interleaved = false;

  /// Not for users: whether a core is left to whoever takes the batches where the loader finds the
  /// number of threads.
  bool consumer_computes = true;
};

/// What is said of the same setting elsewhere: in other tables and in lists of several values.
inline constexpr formats::Setting batch_row{
    .name = "batch", .unit = "N", .sentence = "Images per batch", .min = 1, .max = max_batch};
inline constexpr formats::Setting epochs_row{
    .name = "epochs",
    .unit = "N",
    .sentence = "Passes over the dataset",
    .detail = "A run that resumes counts the epochs before its start. No number: endless.",
    .min = 1,
    .max = max_epochs};
inline constexpr formats::Setting seed_row{
    .name = "seed", .unit = "N", .sentence = "Seed of all random choices"};
inline constexpr formats::Setting draws_row{.name = "draws",
                                            .unit = "N",
                                            .sentence = "Samples per epoch of weights or of a mix",
                                            .min = 1,
                                            .max = max_draws};
inline constexpr formats::Setting mean_row{
    .name = "mean",
    .unit = "M",
    .sentence = "Mean to subtract, from 0 to 255: one number or R,G,B",
    .detail = "(pixel - mean) / deviation has the same bits as torchvision's normalize.",
    .range = {.low = 0, .high = 255}};
inline constexpr formats::Setting deviation_row{
    .name = "deviation",
    .unit = "D",
    .sentence = "Standard deviation to divide by: one number or R,G,B",
    .range = formats::above_zero};
inline constexpr formats::Setting recipe_row{
    .name = "recipe",
    .unit = "NAME",
    .sentence = "Augmentation ('feedrate list recipes')",
    .detail =
        "Parts are added with +, as in imagenet-train+mixup:alpha=0.2: 'feedrate list "
        "parts'.",
    .names = [] { return formats::kind_names(recipes()); },
    .check = [](std::string_view text) { recipe(text); },  // may have parameters behind its name
    .list = "recipes"};

template <class Settings, class Visit>
requires std::is_same_v<std::remove_const_t<Settings>, LoaderSettings>
void for_each_setting(Settings& of, const Visit& visit) {
  visit(recipe_row, of.recipe);
  visit(batch_row, of.batch);
  visit({.name = "threads",
         .unit = "N|auto",
         .sentence = "Loader threads, or auto",
         .detail = "0: load in the trainer's own thread. auto finds the smallest number that keeps "
                   "up, at most one per usable core, and leaves a core to a trainer that computes "
                   "on the CPU.",
         .max = max_loader_threads,
         .nothing = "auto"},
        of.threads);
  visit({.name = "pixels",
         .unit = "TYPE",
         .sentence = "Type of pixel values: u8, f32 or f16",
         .detail = "f32 and f16 hold (pixel - mean) / deviation.",
         .words = pixel_words},
        of.pixels);
  visit({.name = "layout",
         .unit = "HOW",
         .sentence = "Channels last (nhwc) or first (nchw); default: nhwc for u8, else nchw",
         .detail = "The loader threads convert.",
         .words = layout_words},
        of.layout);
  visit(mean_row, of.mean);
  visit(deviation_row, of.deviation);
  visit({.name = "decode",
         .unit = "HOW",
         .sentence = "Decode JPEGs in full, or scaled where the crop allows it",
         .detail = "scaled decodes at 1/2, 1/4 or 1/8 when the crop is that much larger than the "
                   "output. It is faster; pixels change slightly.",
         .words = decode_words},
        of.decode);
  visit(epochs_row, of.epochs);
  visit(seed_row, of.seed);
  visit({.name = "shuffle",
         .sentence = "Shuffle the samples in every epoch",
         .detail = "Default: yes, unless the epoch has an order of its own, or the recipe only "
                   "evaluates and no window is set.",
         .without = "Keep the order of the dataset"},
        of.shuffle);
  visit({.name = "window",
         .unit = "N",
         .sentence = "Shuffle only within N neighbouring samples; 0: within all",
         .detail = "For media that are slow at random reads.",
         .shell = "shuffle-window"},
        of.window);
  visit({.name = "shuffle_blocks",
         .unit = "B",
         .sentence = "Shuffle blocks of B neighbouring samples; 0: single samples",
         .detail = "Blocks come in random order, and samples are shuffled within 16 blocks, or "
                   "within the window. For servers with a cache, and for disks that seek slowly."},
        of.shuffle_blocks);
  visit({.name = "last",
         .unit = "HOW",
         .sentence = "Incomplete last batch: partial, drop, wrap or pad",
         .detail =
             "partial: a smaller batch; every rank needs an image, and the first ranks may have "
             "one more than the others. drop: no batch. wrap: a full batch, filled with the "
             "epoch's first images. pad: a smaller batch of equal size on all ranks, filled "
             "with at most one image per rank, as PyTorch's DistributedSampler does.",
         .words = last_words},
        of.last);
  visit({.name = "rank",
         .unit = "R",
         .sentence = "Rank of this process, from 0",
         .detail = "Batch k of all ranks together is batch k of one loader with batches of ranks "
                   "times batch images.",
         .max = max_ranks - 1},
        of.rank);
  visit({.name = "ranks",
         .unit = "N",
         .sentence = "Number of ranks that share each epoch",
         .min = 1,
         .max = max_ranks},
        of.ranks);
  visit({.name = "start",
         .unit = "STATE",
         .sentence = "Start at EPOCH or EPOCH:IMAGES",
         .detail = "The number of threads, of ranks and of images per batch may differ from the "
                   "run that ended there.",
         .shell = "from"},
        of.start);
  visit({.name = "io_threads",
         .unit = "N",
         .sentence = "Threads that read ahead from disk",
         .max = max_io_threads},
        of.io_threads);
  visit({.name = "crop_index",
         .sentence = "Use the dataset's crop index ('feedrate index --crops'), if it has one",
         .without = "Ignore the dataset's crop index ('feedrate index --crops')"},
        of.crop_index);
  visit({.name = "on_bad",
         .unit = "HOW",
         .sentence = "Bad samples: fail, replace or skip",
         .words = bad_words},
        of.on_bad);
  visit({.name = "bad_budget", .unit = "N", .sentence = "Bad samples to tolerate before failing"},
        of.bad_budget);
}

/// Throws Error, which names settings as the caller does, for values out of range and for values that
/// do not fit together, whatever the dataset.
void check(const LoaderSettings& settings, formats::Spelling by);

/// Throws Error, which names only what is given, for scales of pixels from 0 to 1.
void check_scales(const std::vector<double>& mean, const std::vector<double>& deviation,
                  formats::Spelling by);
/// To be called beside check() where an epoch holds picks, and where these are drawn: by weight or in
/// groups. Throw Error for settings that only the order of a dataset has.
void check_picked(const LoaderSettings& settings, formats::Spelling by);
void check_drawn(const LoaderSettings& settings, formats::Spelling by);
/// Throws Error, which calls the settings as the caller does, where a device cannot decode what a
/// recipe needs, because it works on pixels …
void check_device_decodes(const Recipe& recipe, formats::Spelling by);
/// … or because the dataset, or a member of a mix, holds no packed JPEGs, or colours to become grey.
void check_device_decodes(const formats::Dataset& dataset, const Recipe& recipe,
                          formats::Spelling by);
/// Whether samples come in random order where picks, if any, have no order of their own: if nobody
/// says so, for recipes that train, and with a window, which is one of shuffling.
bool shuffles(const LoaderSettings& settings);

/// A loader that has been asked for, checked.
struct LoaderSetup {
  const Recipe* recipe = nullptr;
  LoaderOptions options;
  formats::Shape shape;                 // of every image in a batch
  std::uint64_t epoch_size = 0;         // samples
  std::uint64_t batches_per_epoch = 0;  // of this rank
  bool over = false;                    // the start is behind the last epoch: nothing is left
};

/// The loader's options for a dataset. `picks` says what an epoch holds; null: every sample once. It
/// outlives the loader. Throws what check() throws, and Error where the dataset does not suit.
LoaderSetup set_up(const LoaderSettings& settings, const formats::Dataset& dataset,
                   const Picks* picks, formats::Spelling by);
/// Throws Error unless a loader can start there.
void expect_start(const LoaderSetup& setup, const LoaderState& start);

}  // namespace feedrate::loader
