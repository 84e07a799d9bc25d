#include "converters/convert.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>

#include "formats/error.h"
#include "formats/file.h"

namespace feedrate {
namespace {

// What travels through the pipeline: enough small samples that handing it on costs nothing beside
// the encoding, few enough that the last ones do not keep one thread busy alone.
constexpr std::size_t chunk_samples = 64;
constexpr std::size_t chunk_bytes = std::size_t{64} << 10;

struct Item {
  Sample sample;  // its bytes and name are views of the two below
  Buffer bytes;
  std::string name;
  Buffer encoded;  // when the source's bytes cannot stay as they are
  Bytes result;    // what is written: `encoded` or `bytes`
  Sha256 digest{};
};

// Memory of one token, used again and again.
struct Chunk {
  std::vector<Item> items = std::vector<Item>(chunk_samples);
  std::size_t count = 0;
  std::uint64_t first = 0;  // index of the first sample
  Buffer pixels;
  std::vector<std::uint64_t> sums;  // per pixel, over all images this chunk ever held: exact, so
                                    // that the mean does not depend on who added what
};

class Pipeline {
 public:
  Pipeline(SampleStream& stream, Writer& writer, const Codec& codec, bool wants_mean,
           const ConvertOptions& options)
      : stream_(stream),
        writer_(writer),
        codec_(codec),
        wants_mean_(wants_mean),
        options_(options),
        total_(stream.info().size) {
    if (options.limit != 0) total_ = total_ == 0 ? options.limit : std::min(total_, options.limit);
  }

  void run(unsigned threads) {
    namespace tbb = oneapi::tbb;
    // An arena asks for threads, only the global control grants more of them than there are cores.
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    tbb::task_arena arena(static_cast<int>(threads));
    // Tokens end in order, so at most this many consecutive ones live: a ring serves them.
    chunks_.resize(2 * std::size_t{threads} + 1);
    arena.execute([&] {
      tbb::parallel_pipeline(
          chunks_.size(),
          tbb::make_filter<void, Chunk*>(tbb::filter_mode::serial_in_order,
                                         [&](tbb::flow_control& flow) { return read(flow); }) &
              tbb::make_filter<Chunk*, Chunk*>(tbb::filter_mode::parallel,
                                               [&](Chunk* chunk) { return encode(chunk); }) &
              tbb::make_filter<Chunk*, void>(tbb::filter_mode::serial_in_order,
                                             [&](Chunk* chunk) { write(*chunk); }));
    });
    if (options_.limit == 0 && total_ != 0 && written_ != total_) {
      throw Error(join("the source promised ", total_, " samples and gave ", written_));
    }
    if (written_ == 0) throw Error("the source holds no samples");
  }

  Conversion result() {
    Conversion conversion;
    conversion.samples = written_;
    conversion.bytes = bytes_;
    conversion.shape = same_shape_ ? shape_ : Shape{};
    conversion.digest = dataset_digest(std::move(digests_));
    return conversion;
  }

  std::optional<MeanImage> mean() const {
    if (!wants_mean_ || !same_shape_) return std::nullopt;
    MeanImage mean{shape_, std::vector<double>(shape_.bytes())};
    for (std::size_t i = 0; i < mean.values.size(); ++i) {
      std::uint64_t sum = 0;
      for (const Chunk& chunk : chunks_) sum += chunk.sums.empty() ? 0 : chunk.sums[i];
      mean.values[i] = static_cast<double>(sum) / static_cast<double>(written_);
    }
    return mean;
  }

 private:
  template <class FlowControl>
  Chunk* read(FlowControl& flow) {
    Chunk& chunk = chunks_[token_++ % chunks_.size()];
    chunk.count = 0;
    chunk.first = read_;
    std::size_t bytes = 0;
    while (chunk.count < chunk_samples && bytes < chunk_bytes && !ended_) {
      Item& item = chunk.items[chunk.count];
      ended_ = (options_.limit != 0 && read_ == options_.limit) || !stream_.next(item.sample);
      if (ended_) break;
      keep(item);
      bytes += item.bytes.size();
      ++chunk.count;
      ++read_;
    }
    if (chunk.count == 0) flow.stop();
    return &chunk;
  }

  // The stream's memory is the stream's: copy.
  void keep(Item& item) {
    Sample& sample = item.sample;
    item.bytes.assign(sample.bytes.begin(), sample.bytes.end());
    item.name.assign(sample.name);
    sample.bytes = item.bytes;
    sample.name = item.name;
    if (read_ == 0) shape_ = sample.shape;
    same_shape_ = same_shape_ && sample.shape == shape_;
  }

  Chunk* encode(Chunk* chunk) const {
    for (std::size_t i = 0; i < chunk->count; ++i) {
      Item& item = chunk->items[i];
      try {
        encode(item, *chunk);
      } catch (const Error& error) {
        throw Error(join("sample ", chunk->first + i,
                         item.name.empty() ? "" : " (" + item.name + ")", ": ", error.what()));
      }
    }
    return chunk;
  }

  void encode(Item& item, Chunk& chunk) const {
    const Sample& sample = item.sample;
    chunk.pixels.resize(sample.shape.bytes());
    decode(sample, chunk.pixels);
    const ImageView image(sample.shape, chunk.pixels);
    if (sample.codec == &codec_ && sample.order == PixelOrder::interleaved) {
      item.result = item.bytes;
    } else {
      codec_.encode(image, item.encoded);
      item.result = item.encoded;
      // Digest and mean are those of what the dataset will give, not of what a quality has cost.
      if (codec_.has_quality()) codec_.decode(item.encoded, sample.shape, chunk.pixels);
    }
    item.digest = sample_digest(sample.label, image);
    if (wants_mean_ && sample.shape == shape_) add_to_sums(chunk);
  }

  static void add_to_sums(Chunk& chunk) {
    chunk.sums.resize(chunk.pixels.size());
    for (std::size_t i = 0; i < chunk.pixels.size(); ++i) {
      chunk.sums[i] += std::to_integer<std::uint64_t>(chunk.pixels[i]);
    }
  }

  void write(Chunk& chunk) {
    for (std::size_t i = 0; i < chunk.count; ++i) {
      Item& item = chunk.items[i];
      Sample sample = item.sample;
      sample.bytes = item.result;
      sample.codec = &codec_;
      sample.order = PixelOrder::interleaved;
      writer_.add(sample);
      digests_.push_back(item.digest);
      bytes_ += item.result.size();
    }
    written_ += chunk.count;
    if (options_.progress) options_.progress(written_, total_);
  }

  SampleStream& stream_;
  Writer& writer_;
  const Codec& codec_;
  const bool wants_mean_;
  const ConvertOptions& options_;
  std::uint64_t total_;  // samples to come; 0 when not known
  std::vector<Chunk> chunks_;

  // Of the first stage; shape_ is fixed before any chunk goes on.
  std::uint64_t token_ = 0;
  std::uint64_t read_ = 0;
  bool ended_ = false;
  bool same_shape_ = true;
  Shape shape_;

  // Of the last stage.
  std::uint64_t written_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<Sha256> digests_;
};

const Codec& codec_for(const Container& container, const ConvertOptions& options) {
  const Codec& codec = options.codec != nullptr ? *options.codec : container.default_codec();
  if (container.accepts(codec)) return codec;
  std::string accepted;
  for (const Codec* other : codecs()) {
    if (container.accepts(*other)) accepted += join(accepted.empty() ? "" : ", ", other->name());
  }
  throw Error(
      join(container.name(), " does not hold ", codec.name(), " images; it holds ", accepted));
}

}  // namespace

Conversion convert(SampleStream& stream, const Container& container,
                   const std::filesystem::path& directory, std::string_view split,
                   const ConvertOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Codec& codec = codec_for(container, options);
  const unsigned threads = options.threads != 0
                               ? options.threads
                               : static_cast<unsigned>(oneapi::tbb::info::default_concurrency());
  const auto writer = container.create(directory, {.split = std::string(split), .codec = &codec});
  Pipeline pipeline(stream, *writer, codec, container.wants_mean(), options);
  pipeline.run(threads);
  const std::optional<MeanImage> mean = pipeline.mean();
  writer->finish(mean ? &*mean : nullptr);
  Conversion conversion = pipeline.result();
  conversion.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return conversion;
}

Conversion convert_dataset(const Source& source, std::span<const std::filesystem::path> inputs,
                           std::string_view split, const Container& container,
                           const std::filesystem::path& out, const ConvertOptions& options) {
  const Codec& codec = codec_for(container, options);  // before anything is read or made
  const auto stream = source.open(inputs, split);
  PartialDirectory directory(out);
  Conversion conversion = convert(*stream, container, directory.path(), split, options);

  Sidecar sidecar;
  sidecar.tool_version = FEEDRATE_VERSION;
  sidecar.source = source.name();
  sidecar.split = split;
  sidecar.format = container.name();
  sidecar.codec = codec.name();
  sidecar.count = conversion.samples;
  sidecar.shape = conversion.shape;
  sidecar.classes = stream->info().classes;
  sidecar.class_names = stream->info().class_names;
  sidecar.digest = conversion.digest.digest;
  sidecar.set_digest = conversion.digest.set_digest;
  for (const std::filesystem::path& file : source.files(inputs, split)) {
    sidecar.inputs.push_back({.name = file.filename().string(),
                              .bytes = std::filesystem::file_size(file),
                              .sha256 = hex(sha256_file(file))});
  }
  if (options.codec != nullptr) sidecar.options.push_back(join("--encode ", codec.name()));
  if (options.limit != 0) sidecar.options.push_back(join("--limit ", options.limit));
  write_sidecar(directory.path(), sidecar);
  directory.commit();
  return conversion;
}

}  // namespace feedrate
