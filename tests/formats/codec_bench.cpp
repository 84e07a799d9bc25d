// Images a second on one core: our codecs beside loops that follow the manuals of libpng and
// libjpeg, with everything created anew for each image and all settings at their defaults. Times
// are processor times, which depend less on other programs; medians of runs that alternate.
//
//   bench_codec [name of a set…]
//
// Sets: `made` (32x32 images) and, where the data exist, `cifar10`, `mnist` and `imagenet`.

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <random>

#include "formats/containers/webdataset/tar_index.h"
#include "formats/io/byte_stream.h"
#include "formats/io/mapped_file.h"
#include "formats/pixels/resize.h"
#include "tests/support/data.h"
#include "tests/support/plain_codecs.h"

#include "formats/codec.h"

namespace feedrate::formats {
namespace {

constexpr int repeats = 9;
constexpr double seconds_each = 0.1;
constexpr int quality = 95;

using Images = std::vector<Image>;

// Smooth areas with noise added: as hard to compress as CIFAR's photographs.
Images made_images() {
  std::mt19937 random(1);
  Images images(500, Image{{32, 32, 3}, Buffer(3072)});
  ResizeScratch scratch;
  for (Image& image : images) {
    Image coarse{{7, 7, 3}, Buffer(147)};
    for (std::byte& pixel : coarse.pixels) pixel = static_cast<std::byte>(20 + random() % 200);
    resize(coarse, image.shape, image.pixels, scratch);
    for (std::byte& pixel : image.pixels) {
      pixel = static_cast<std::byte>(std::to_integer<unsigned>(pixel) + random() % 24);
    }
  }
  return images;
}

Buffer unpacked(const std::filesystem::path& file) {
  Buffer content;
  const auto stream = decompress(open_file_stream(file), file.string()).stream;
  for (Bytes block = stream->next(); !block.empty(); block = stream->next()) append(content, block);
  return content;
}

Images cifar_images() {
  Images images;
  const auto file = testing::data_file("cifar10/cifar-10-binary.tar.xz");
  if (!file) return images;
  const Buffer tar = unpacked(*file);
  TarWalk walk(tar);
  TarEntry entry;
  while (walk.next(entry) && images.empty()) {
    if (!entry.name.ends_with("test_batch.bin")) continue;
    for (std::size_t i = 0; i < 1000; ++i) {
      const std::byte* record = tar.data() + entry.offset + i * 3073;
      Image image{{32, 32, 3}, Buffer(3072)};
      for (std::size_t k = 0; k < 3072; ++k) image.pixels[k] = record[1 + k % 3 * 1024 + k / 3];
      images.push_back(std::move(image));
    }
  }
  return images;
}

Images mnist_images() {
  Images images;
  const auto file = testing::data_file("mnist/t10k-images-idx3-ubyte.gz");
  if (!file) return images;
  const Buffer idx = unpacked(*file);
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto pixels = idx.begin() + static_cast<long>(16 + i * 784);
    images.push_back({{28, 28, 1}, Buffer(pixels, pixels + 784)});
  }
  return images;
}

Images imagenet_images() {
  Images images;
  const auto file = testing::data_file("imagenet/ILSVRC2012_img_train.tar");
  if (!file) return images;
  const MappedFile archive(*file);
  TarWalk classes(archive.bytes());
  TarEntry entry;
  while (images.size() < 24 && classes.next(entry)) {
    const Bytes inner = archive.bytes().subspan(entry.offset, entry.size);
    TarWalk walk(inner);
    if (!walk.next(entry)) continue;
    const Bytes jpeg = inner.subspan(entry.offset, entry.size);
    Image image{jpeg_codec.shape(jpeg), {}};
    image.pixels.resize(image.shape.bytes());
    jpeg_codec.decode(jpeg, image.shape, image.pixels);
    images.push_back(std::move(image));
  }
  return images;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

using Work = std::function<void(std::size_t image)>;

double images_a_second(std::size_t count, const Work& work) {
  const double start = processor_seconds();
  double seconds = 0;
  std::size_t done = 0;
  while (seconds < seconds_each) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    done += count;
    seconds = processor_seconds() - start;
  }
  return static_cast<double>(done) / seconds;
}

void compare(const char* what, std::size_t count, const Work& ours, const Work& plain) {
  std::vector<double> our_rates, plain_rates;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    our_rates.push_back(images_a_second(count, ours));
    plain_rates.push_back(images_a_second(count, plain));
  }
  std::ranges::sort(our_rates);
  std::ranges::sort(plain_rates);
  const double our_rate = our_rates[repeats / 2], plain_rate = plain_rates[repeats / 2];
  fmt::print("  {:<12} {:>9.0f} images/s   plain loop {:>9.0f}   {:.2f} times\n", what, our_rate,
             plain_rate, our_rate / plain_rate);
}

std::size_t total(const std::vector<Buffer>& files) {
  std::size_t bytes = 0;
  for (const Buffer& file : files) bytes += file.size();
  return bytes;
}

void measure(const Images& images) {
  std::vector<Buffer> pngs(images.size()), jpegs(images.size()), others(images.size());
  Buffer encoded, pixels;
  for (std::size_t i = 0; i < images.size(); ++i) {
    png_codec.encode(images[i], pngs[i]);
    jpeg_codec.encode(images[i], quality, jpegs[i]);
    testing::plain_png_encode(images[i], others[i]);
  }
  fmt::print("  png bytes    {:>9} an image   plain loop {:>9}   {:.3f} times\n",
             total(pngs) / images.size(), total(others) / images.size(),
             static_cast<double>(total(pngs)) / static_cast<double>(total(others)));
  const auto room = [&](std::size_t i) {
    pixels.resize(images[i].shape.bytes());
    return MutableBytes(pixels);
  };
  compare(
      "png encode", images.size(), [&](std::size_t i) { png_codec.encode(images[i], encoded); },
      [&](std::size_t i) { testing::plain_png_encode(images[i], encoded); });
  compare(
      "png decode", images.size(),
      [&](std::size_t i) { png_codec.decode(pngs[i], images[i].shape, room(i)); },
      [&](std::size_t i) { testing::plain_png_decode(pngs[i], images[i].shape, room(i)); });
  compare(
      "jpeg encode", images.size(),
      [&](std::size_t i) { jpeg_codec.encode(images[i], quality, encoded); },
      [&](std::size_t i) { testing::plain_jpeg_encode(images[i], quality, encoded); });
  compare(
      "jpeg decode", images.size(),
      [&](std::size_t i) { jpeg_codec.decode(jpegs[i], images[i].shape, room(i)); },
      [&](std::size_t i) { testing::plain_jpeg_decode(jpegs[i], images[i].shape, room(i)); });
}

}  // namespace
}  // namespace feedrate::formats

int main(int count, char** words) {
  using namespace feedrate;
  using namespace feedrate::formats;
  const std::pair<const char*, Images (*)()> sets[] = {{"made", made_images},
                                                       {"cifar10", cifar_images},
                                                       {"mnist", mnist_images},
                                                       {"imagenet", imagenet_images}};
  const std::vector<std::string_view> chosen(words + 1, words + count);
  for (const auto& [name, load] : sets) {
    if (!chosen.empty() && std::ranges::find(chosen, name) == chosen.end()) continue;
    const Images images = load();
    fmt::print("{}: {} images\n", name, images.size());
    if (!images.empty()) measure(images);
  }
}
