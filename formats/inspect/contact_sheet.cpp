#include "formats/inspect/contact_sheet.h"

#include <algorithm>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/base/text.h"
#include "formats/inspect/canvas.h"
#include "formats/inspect/font.h"
#include "formats/pixels/resize.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t sheet_samples = 100;
constexpr std::size_t columns = 10;
constexpr std::size_t max_rows_of_classes = 12;  // more classes than this share rows
constexpr std::uint32_t max_side = 128;          // larger images are shrunk
constexpr std::uint32_t wanted_side = 96;        // smaller images are enlarged up to this
constexpr std::uint32_t gap = 4;                 // between images
constexpr std::uint32_t margin = 16;             // around it all, and between its parts
constexpr std::uint32_t max_name_width = 200;    // in front of a row
constexpr std::uint32_t min_sheet_width = 512;   // room for a title

constexpr Colour background = {30, 31, 34};
constexpr Colour ink = {232, 233, 236};
constexpr Colour faint = {150, 154, 162};

struct Cell {
  std::int32_t label = 0;
  std::uint64_t sample = 0;
  bool first_of_class = false;
  std::size_t row = 0, column = 0;
  Image image = {};         // sides up to max_side; empty if it cannot be decoded
  std::uint32_t scale = 1;  // tiny images: each pixel becomes a square of this side

  std::uint32_t height() const { return empty() ? wanted_side : image.shape.height * scale; }
  std::uint32_t width() const { return empty() ? wanted_side : image.shape.width * scale; }
  bool empty() const { return image.pixels.empty(); }
};

Image shrunk(const Image& image) {
  const Resize fit{Resize::Fit::long_side, max_side, max_side};
  const Shape target = fit.target(image.shape);
  Image small{target, Buffer(target.bytes())};
  ResizeScratch scratch;
  resize(image, target, small.pixels, scratch);
  return small;
}

void read_image(const Dataset& dataset, Cell& cell, Scratch& scratch) {
  forget_failed_late_bytes();
  try {
    const Sample sample = dataset.read(cell.sample, scratch);
    Image image{sample.shape, Buffer(sample.shape.bytes())};
    decode(sample, image.pixels);
    const std::uint32_t side = std::max(image.shape.height, image.shape.width);
    cell.scale = std::max(wanted_side / side, 1U);
    cell.image = side > max_side ? shrunk(image) : std::move(image);
  } catch (const Error&) {
    if (late_bytes_failed()) throw;
    // The sheet shows a crossed square; `verify` says what is wrong.
  }
}

// From left to right and from top to bottom. If `in_rows`, each class begins a row.
std::vector<Cell> place_cells(const std::vector<SheetClass>& classes, bool in_rows) {
  std::vector<Cell> cells;
  std::size_t row = 0, column = 0;
  for (const SheetClass& each : classes) {
    if (in_rows && column != 0) ++row, column = 0;
    for (const std::uint64_t sample : each.samples) {
      if (column == columns) ++row, column = 0;
      cells.push_back({each.label, sample, sample == each.samples.front(), row, column++});
    }
  }
  return cells;
}

void read_images(const Dataset& dataset, std::vector<Cell>& cells) {
  const unsigned threads = usable_cores();
  std::vector<Scratch> scratch(threads);
  sweep(cells.size(), threads, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) read_image(dataset, cells[i], scratch[worker]);
  });
}

// "tench" of "tench, Tinca tinca": the text of the class if there is one, else its name. Empty if
// that only repeats the number.
std::string name_of(const ClassNames& classes, std::int32_t label) {
  const auto at = static_cast<std::size_t>(label);
  const auto& names = at < classes.texts.size() ? classes.texts : classes.names;
  if (label < 0 || at >= names.size() || names[at] == std::to_string(label)) return {};
  return names[at].substr(0, names[at].find(','));
}

std::string title_of(const DatasetInfo& info, const Survey& survey) {
  const std::string what = info.sidecar ? join(info.sidecar->source, " ", info.sidecar->split)
                                        : info.path.filename().string();
  const std::size_t seen = survey.class_counts.size();
  const std::size_t classes = std::max<std::size_t>(info.classes, seen);
  return join(what, what.empty() ? "" : ": ", grouped(info.size), " images, ", grouped(classes),
              classes == 1 ? " class" : " classes");
}

// A sheet: its contents and their layout.
class Sheet {
 public:
  Sheet(const Dataset& dataset, const Survey& survey, const std::vector<SheetClass>& classes)
      : names_(dataset.info().class_names),
        title_(title_of(dataset.info(), survey)),
        in_rows_(classes.size() <= max_rows_of_classes),
        font_(all_text(classes)),
        cells_(place_cells(classes, in_rows_)) {
    read_images(dataset, cells_);
    lay_out();
  }

  Image draw() const {
    std::uint32_t height = 0, width = min_sheet_width;
    for (const Cell& cell : cells_) {
      height = std::max(height, top(cell) + step_y_ + margin);
      width = std::max(width, left(cell) + step_x_ + margin);
    }
    Canvas canvas(height, width, background);
    font_.draw(canvas, margin, margin, font_.shortened(title_, width - 2 * margin), ink);
    for (const Cell& cell : cells_) {
      draw_image(canvas, cell);
      if (!in_rows_) draw_below(canvas, cell);
      if (in_rows_ && cell.first_of_class) draw_before_row(canvas, cell);
    }
    return canvas.take();
  }

 private:
  std::string all_text(const std::vector<SheetClass>& classes) const {
    std::string text = title_ + "0123456789-…";
    for (const SheetClass& each : classes) text += name_of(names_, each.label);
    return text;
  }

  void lay_out() {
    cell_width_ = in_rows_ ? 0 : max_side;  // room for a name below
    for (const Cell& cell : cells_) {
      cell_height_ = std::max(cell_height_, cell.height());
      cell_width_ = std::max(cell_width_, cell.width());
    }
    step_x_ = cell_width_ + gap;
    step_y_ = cell_height_ + gap;
    if (!in_rows_) {
      step_x_ += gap;
      step_y_ += 2 * (font_.height() + gap) + gap;
      return;
    }
    step_y_ = std::max(step_y_, 2 * font_.height() + 3 * gap);
    for (const Cell& cell : cells_) {
      const std::uint32_t number = font_.measure(std::to_string(cell.label)).width;
      gutter_ = std::max({gutter_, number, font_.measure(short_name(cell)).width});
    }
    gutter_ += margin;
  }

  std::uint32_t top(const Cell& cell) const {
    return 2 * margin + font_.height() + static_cast<std::uint32_t>(cell.row) * step_y_;
  }
  std::uint32_t left(const Cell& cell) const {
    return margin + gutter_ + static_cast<std::uint32_t>(cell.column) * step_x_;
  }
  std::string short_name(const Cell& cell) const {
    return font_.shortened(name_of(names_, cell.label), max_name_width);
  }

  void draw_image(Canvas& canvas, const Cell& cell) const {
    const std::uint32_t y = top(cell) + (cell_height_ - cell.height()) / 2;
    const std::uint32_t x = left(cell) + (cell_width_ - cell.width()) / 2;
    if (cell.empty()) {
      canvas.draw_cross(y, x, wanted_side, faint);
    } else {
      canvas.draw_image(y, x, cell.image, cell.scale);
    }
  }

  // The number, and the name under it.
  void draw_before_row(Canvas& canvas, const Cell& cell) const {
    const std::string name = short_name(cell);
    const std::uint32_t line = font_.height() + gap;
    const std::uint32_t used = (name.empty() ? line : 2 * line) - gap;
    const std::uint32_t y = top(cell) + (std::max(cell_height_, used) - used) / 2;
    font_.draw(canvas, y, margin, std::to_string(cell.label), ink);
    font_.draw(canvas, y + line, margin, name, faint);
  }

  // "24 great", and "grey owl" on the next line.
  void draw_below(Canvas& canvas, const Cell& cell) const {
    const std::string number = join(cell.label, " "), name = name_of(names_, cell.label);
    const std::uint32_t indent = std::min(font_.measure(number).width, cell_width_);
    const std::size_t broken = break_at(name, cell_width_ - indent);
    const std::size_t next = std::min(name.find_first_not_of(' ', broken), name.size());
    const std::string rest = font_.shortened(name.substr(next), cell_width_);
    const std::uint32_t y = top(cell) + cell_height_ + gap;
    font_.draw(canvas, y, left(cell), number, ink);
    font_.draw(canvas, y, left(cell) + indent, name.substr(0, broken), faint);
    font_.draw(canvas, y + font_.height() + gap, left(cell), rest, faint);
  }

  // How many bytes of `name` fit into `room` if it is broken after a word or a hyphen. If there is
  // no such break, and the name is too long even for a line of its own, breaks it anywhere.
  std::size_t break_at(std::string_view name, std::uint32_t room) const {
    const std::size_t fits = font_.measure(name, room).bytes;
    if (fits == name.size()) return fits;
    for (std::size_t at = fits; at > 0; --at) {
      if (name[at] == ' ' || name[at - 1] == '-') return at;
    }
    return font_.measure(name, cell_width_).bytes == name.size() ? 0 : fits;
  }

  const ClassNames& names_;
  const std::string title_;
  const bool
      in_rows_;  // each class begins a row, with its name in front; else names are below images
  const Font font_;
  std::vector<Cell> cells_;
  std::uint32_t gutter_ = 0;                        // in front of the rows
  std::uint32_t cell_height_ = 0, cell_width_ = 0;  // of the images
  std::uint32_t step_y_ = 0, step_x_ = 0;
};

}  // namespace

std::vector<SheetClass> sheet_classes(const Survey& survey) {
  std::map<std::int32_t, std::vector<std::uint64_t>> seen;
  for (const Survey::Seen& one : survey.samples) seen[one.label].push_back(one.index);
  std::vector<SheetClass> all;
  for (auto& [label, samples] : seen) all.push_back({label, std::move(samples)});

  const std::size_t shown = std::min(all.size(), sheet_samples);
  std::size_t each = shown == 0 ? 0 : sheet_samples / shown;
  if (shown <= max_rows_of_classes) each = std::max(each / columns, std::size_t{1}) * columns;
  std::vector<SheetClass> classes;
  for (std::size_t i = 0; i < shown; ++i) {
    const SheetClass& from = all[i * all.size() / shown];
    SheetClass chosen{from.label, {}};
    const std::size_t count = std::min(each, from.samples.size());
    for (std::size_t k = 0; k < count; ++k) {
      chosen.samples.push_back(from.samples[k * from.samples.size() / count]);
    }
    classes.push_back(std::move(chosen));
  }
  return classes;
}

Image contact_sheet(const Dataset& dataset, const Survey& survey) {
  const std::vector<SheetClass> classes = sheet_classes(survey);
  if (classes.empty()) fail(dataset.info().path, "no sample can be read: there is nothing to draw");
  return Sheet(dataset, survey, classes).draw();
}

}  // namespace feedrate::formats
