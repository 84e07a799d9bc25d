#include "converters/pipeline/pipeline.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>

#include "converters/pipeline/item.h"
#include "formats/base/error.h"
#include "formats/base/stop.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// A chunk travels through the pipeline: enough small samples that handing it on costs nothing
// beside the encoding, few enough that the last ones do not keep a single thread busy.
constexpr std::size_t chunk_samples = 64;
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

// Reusable memory of one token.
struct Chunk {
  std::vector<Item> items = std::vector<Item>(chunk_samples);
  std::size_t count = 0;
  ItemScratch scratch;
  // Per pixel value, over the chunk's images of one shape. 64 images of 8 bits cannot overflow.
  std::vector<std::uint32_t> sums;
  Shape summed;
};

class Pipeline {
 public:
  Pipeline(SelectedStream& stream, Writer& writer, const PipelineOptions& pipeline, Tally& tally)
      : stream_(stream),
        writer_(writer),
        options_(pipeline.settings),
        pipeline_(pipeline),
        treatment_{pipeline.encoding, &pipeline.container,   options_.resize,   options_.fix,
                   options_.check,    stream.info().classes, options_.one_label},
        tally_(tally),
        end_(pipeline.end),
        position_(pipeline.begin + tally.read),
        saved_bytes_(tally.bytes) {}

  void run(unsigned threads) {
    namespace tbb = oneapi::tbb;
    // Only the global control allows more threads than there are cores; an arena alone does not.
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    // Tokens end in order, so those alive are consecutive: a ring of chunks is enough.
    chunks_.resize(2 * std::size_t{threads} + 1);
    arena.execute([&] {
      tbb::parallel_pipeline(
          chunks_.size(),
          tbb::make_filter<void, Chunk*>(tbb::filter_mode::serial_in_order,
                                         [&](tbb::flow_control& flow) { return read(flow); }) &
              tbb::make_filter<Chunk*, Chunk*>(tbb::filter_mode::parallel,
                                               [&](Chunk* chunk) { return treat(chunk); }) &
              tbb::make_filter<Chunk*, void>(tbb::filter_mode::serial_in_order,
                                             [&](Chunk* chunk) { write(*chunk); }));
    });
  }

  /// By the last stage, or once no stage is at work.
  void save() {
    if (!pipeline_.save) return;
    tally_.writer = writer_.pause();
    pipeline_.save(tally_);
    saved_bytes_ = tally_.bytes;
  }

 private:
  template <class FlowControl>
  Chunk* read(FlowControl& flow) {
    Chunk& chunk = chunks_[token_++ % chunks_.size()];
    chunk.count = 0;
    std::size_t bytes = 0;
    Sample sample;
    while (chunk.count < chunk_samples && bytes < chunk_bytes && !ended_) {
      ended_ = (end_ != 0 && position_ == end_) || !stream_.next(sample);
      if (ended_) break;
      Item& item = chunk.items[chunk.count++];
      item.take(sample, position_++, stream_.lasting());
      item.problem = stream_.problem();
      bytes += sample.bytes.size();
    }
    if (chunk.count == 0) flow.stop();
    return &chunk;
  }

  Chunk* treat(Chunk* chunk) const {
    chunk->summed = {};
    for (std::size_t i = 0; i < chunk->count; ++i) {
      Item& item = chunk->items[i];
      if (!item.problem.empty()) continue;
      try {
        item.treat(treatment_, chunk->scratch);
        if (pipeline_.wants_mean && item.decoded) add_to_sums(*chunk, item.sample.shape);
      } catch (const Error& error) {
        item.problem = error.what();
      }
    }
    return chunk;
  }

  // Sums images of the chunk's first shape only: with several shapes there is no mean anyway.
  static void add_to_sums(Chunk& chunk, Shape shape) {
    if (chunk.summed == Shape{}) {
      chunk.summed = shape;
      chunk.sums.assign(shape.bytes(), 0);
    }
    if (shape != chunk.summed) return;
    const std::byte* pixels = chunk.scratch.pixels.data();
    for (std::size_t i = 0; i < chunk.sums.size(); ++i) {
      chunk.sums[i] += std::to_integer<std::uint32_t>(pixels[i]);
    }
  }

  void write(Chunk& chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      Item& item = chunk.items[i];
      ++tally_.read;
      if (!item.problem.empty()) {
        note_bad(item);
        continue;
      }
      if (options_.no_boxes) item.sample.boxes = {};
      require_room_for_boxes(item);
      fit_labels(item);
      writer_.add(item.sample);
      tally_.details.add(pipeline_.begin + tally_.written, writer_.details());
      note(item);
    }
    if (chunk.summed != Shape{}) {
      tally_.sums.resize(std::max(tally_.sums.size(), chunk.sums.size()));
      for (std::size_t i = 0; i < chunk.sums.size(); ++i) tally_.sums[i] += chunk.sums[i];
    }
    if (tally_.bytes - saved_bytes_ >= options_.journal_bytes) save();
    throw_if_stop_requested();
    if (options_.progress) options_.progress(tally_.read, stream_.size());
  }

  // The sample itself is sound, so it is no matter of --on-bad.
  void require_room_for_boxes(const Item& item) const {
    if (item.sample.boxes.empty() || pipeline_.container.holds_boxes()) return;
    fail_at(item, join("has bounding boxes, which ", pipeline_.container.name(),
                       " does not hold; --no-boxes leaves them out"));
  }

  // A list that says no more than the class may go without a word.
  void fit_labels(Item& item) {
    Sample& sample = item.sample;
    if (sample.labels.empty()) return;
    if (!options_.one_label && pipeline_.container.holds_label_lists()) return;
    const bool says_more = sample.labels.size() != 1 || sample.label < 0 ||
                           sample.labels.front() != static_cast<float>(sample.label);
    if (says_more && !options_.one_label && !stream_.info().labels_follow_class) {
      fail_at(item, join("has a list of labels (", sample.labels.size(), ", the first ",
                         sample.labels.front(), "), which ", pipeline_.container.name(),
                         " does not hold; --one-label keeps the class alone, ",
                         sample.label < 0 ? "of which it has none" : join(sample.label)));
    }
    sample.labels = {};
    tally_.lists_cut += says_more ? 1 : 0;
  }

  void note_bad(const Item& item) {
    if (options_.on_bad == OnBad::fail) fail_at(item, item.problem);
    tally_.skipped.push_back({item.position, std::string(item.sample.name), item.problem});
  }

  [[noreturn]] static void fail_at(const Item& item, std::string_view problem) {
    const Skipped bad{item.position, std::string(item.sample.name), std::string(problem)};
    throw Error(bad.text());
  }

  void note(const Item& item) {
    const Sample& sample = item.sample;
    if (tally_.written == 0) {
      tally_.shape = sample.shape;
      tally_.codec = sample.codec->name();
    } else if (tally_.codec != sample.codec->name()) {
      tally_.codec = "mixed";
    }
    tally_.same_shape = tally_.same_shape && sample.shape == tally_.shape;
    tally_.decoded = tally_.decoded && item.decoded;
    ++tally_.written;
    tally_.bytes += sample.bytes.size();
    tally_.mended += item.mended ? 1 : 0;
    if (!options_.no_boxes && pipeline_.container.holds_boxes()) {
      tally_.boxes_left_out += sample.boxes_left_out;
    }
    tally_.extras_damaged += sample.extras_damaged ? 1 : 0;
    tally_.doubtful += item.doubtful ? 1 : 0;
    pipeline_.digested({item.stored, item.decoded ? item.pixels : Sha256{}});
    count_class(sample.label);
  }

  void count_class(std::int32_t label) {
    constexpr std::size_t max_classes = 1 << 20;  // verify reports labels beyond
    const auto at = static_cast<std::size_t>(label);
    if (label < 0 || at >= max_classes) return;
    if (tally_.class_counts.size() <= at) tally_.class_counts.resize(at + 1);
    ++tally_.class_counts[at];
  }

  SelectedStream& stream_;
  Writer& writer_;
  const ConvertOptions& options_;
  const PipelineOptions& pipeline_;
  const Treatment treatment_;
  Tally& tally_;  // used by the last stage
  std::vector<Chunk> chunks_;

  // Used by the first stage.
  const std::uint64_t end_;
  std::uint64_t position_;
  std::uint64_t token_ = 0;
  bool ended_ = false;

  std::uint64_t saved_bytes_;  // used by the last stage
};

}  // namespace

void run_pipeline(SelectedStream& stream, Writer& writer, const PipelineOptions& pipeline,
                  Tally& tally) {
  const unsigned threads = pipeline.settings.threads != 0
                               ? pipeline.settings.threads
                               : static_cast<unsigned>(oneapi::tbb::info::default_concurrency());
  Pipeline run(stream, writer, pipeline, tally);
  try {
    run.run(threads);
  } catch (const Stopped&) {  // of whichever stage
    run.save();
    throw;
  }
}

}  // namespace feedrate::converters
