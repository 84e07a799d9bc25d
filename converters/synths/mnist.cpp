#include <string>

#include "converters/synths/made_images.h"
#include "formats/io/gzip.h"

namespace feedrate::converters {
using namespace formats;

namespace {

constexpr std::uint32_t mnist_side = 28;

// Each digit is one line through points of a 5 by 7 grid: column, row, column, row, …
constexpr std::string_view digits[] = {
    "103041453616050110",         "112026",   "01103041420646",
    "01103041423323334445361605", "36300444", "400002324345361605",
    "3011030516364544331304",     "004016",   "13020110304142331304051636454433",
    "42331302011030414336"};

// The digit as if written by hand: narrow or wide, slanted, shaky.
Form draw_line(std::string_view digit, Draws& draws) {
  constexpr float shake = .04F;
  const float width = draws.between(.35F, .7F), slant = draws.between(-.35F, .35F);
  std::vector<Point> points;
  for (std::size_t i = 0; i < digit.size(); i += 2) {
    const float x = static_cast<float>(digit[i] - '2') / 2;
    const float y = static_cast<float>(digit[i + 1] - '3') / 3.6F;
    points.push_back(
        {x * width - y * slant + draws.between(-shake, shake), y + draws.between(-shake, shake)});
  }
  return stroke(std::move(points), draws.between(.06F, .15F));
}

// The label, then the pixels.
Buffer draw_digit(std::uint64_t, Draws draws) {
  const std::uint32_t label = draws.below(std::size(digits));
  Picture picture;
  picture.ground = [](Point) { return Colour{}; };
  picture.form = draw_line(digits[label], draws);
  picture.colour = {draws.between(.6F, 1)};
  picture.centre = {draws.between(12, 16), draws.between(12, 16)};
  picture.size = draws.between(9, 13);
  picture.turn = draws.between(-.15F, .15F);  // up to 17 degrees
  Buffer image(1 + mnist_side * mnist_side, static_cast<std::byte>(label));
  render(picture, draws, {mnist_side, mnist_side, 1}, MutableBytes(image).subspan(1));
  return image;
}

void write_header(GzipFile& file, std::initializer_list<std::uint64_t> words) {
  for (const std::uint64_t word : words) {
    const std::uint32_t big_endian = swap_bytes(static_cast<std::uint32_t>(word));
    file.write(std::as_bytes(std::span(&big_endian, 1)));
  }
}

void make_mnist(const std::filesystem::path& directory, MadeImages& made) {
  for (const MadeSplit split : {MadeSplit::train, MadeSplit::test}) {
    const std::string prefix = split == MadeSplit::train ? "train-" : "t10k-";
    GzipFile images(directory / (prefix + "images-idx3-ubyte.gz"));
    GzipFile labels(directory / (prefix + "labels-idx1-ubyte.gz"));
    const std::uint64_t count = made.count(split);
    write_header(images, {0x803, count, mnist_side, mnist_side});
    write_header(labels, {0x801, count});
    made.make(split, 0, count, draw_digit, [&](std::uint64_t, Bytes image) {
      labels.write(image.first(1));
      images.write(image.subspan(1));
    });
    images.close();
    labels.close();
  }
}

const Synth mnist_row("mnist", "drawn digits in MNIST's four files: N to train, N/6 to test",
                      {1, std::uint64_t{1} << 31, 6}, make_mnist);

}  // namespace

const Synth& mnist_synth = mnist_row;

}  // namespace feedrate::converters
