#include "formats/inspect/contact_sheet.h"

#include <algorithm>

#include "formats/base/cores.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/inspect/canvas.h"
#include "formats/io/sweep.h"
#include "formats/pixels/resize.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t sheet_samples = 100;
constexpr std::size_t columns = 10;
constexpr std::size_t max_rows_of_classes = 12;  // more classes than this share rows
constexpr std::uint32_t largest_side = 128;      // images beyond are shrunk
constexpr std::uint32_t wanted_side = 96;        // smaller ones are enlarged up to this
constexpr std::uint32_t gap = 4;                 // between images
constexpr std::uint32_t margin = 16;             // around it all, and between its parts
constexpr std::size_t longest_name = 16;         // letters in front of a row

constexpr Colour background = {30, 31, 34};
constexpr Colour ink = {232, 233, 236};
constexpr Colour faint = {150, 154, 162};

// Pixels stay squares when they are enlarged: what is there is what is seen.
Image enlarged(const Image& from, std::uint32_t factor) {
  Image to{{from.shape.height * factor, from.shape.width * factor, from.shape.channels}, {}};
  to.pixels.reserve(to.shape.bytes());
  for (std::uint32_t y = 0; y < to.shape.height; ++y) {
    for (std::uint32_t x = 0; x < to.shape.width; ++x) {
      const std::size_t at = std::size_t{y / factor} * from.shape.width + x / factor;
      const auto pixel = from.pixels.begin() + static_cast<std::ptrdiff_t>(at * to.shape.channels);
      to.pixels.insert(to.pixels.end(), pixel, pixel + to.shape.channels);
    }
  }
  return to;
}

Image at_viewing_size(Image image) {
  const std::uint32_t side = std::max(image.shape.height, image.shape.width);
  if (side > largest_side) {
    const Resize fit{Resize::Fit::long_side, largest_side, largest_side};
    const Shape target = fit.target(image.shape);
    Image small{target, Buffer(target.bytes())};
    ResizeScratch scratch;
    resize(image, target, small.pixels, scratch);
    return small;
  }
  const std::uint32_t factor = wanted_side / side;
  return factor > 1 ? enlarged(image, factor) : image;
}

struct Cell {
  std::int32_t label = 0;
  std::uint64_t sample = 0;
  bool first_of_class = false;
  Image image;  // empty when it cannot be decoded

  std::uint32_t height() const { return image.pixels.empty() ? wanted_side : image.shape.height; }
  std::uint32_t width() const { return image.pixels.empty() ? wanted_side : image.shape.width; }
};

Image read_image(const Dataset& dataset, std::uint64_t index, Scratch& scratch) {
  try {
    const Sample sample = dataset.read(index, scratch);
    Image image{sample.shape, Buffer(sample.shape.bytes())};
    decode(sample, image.pixels);
    return at_viewing_size(std::move(image));
  } catch (const Error&) {
    return {};  // a sheet shows what can be seen; verify says what is wrong
  }
}

std::string shortened(std::string name, std::size_t longest) {
  if (name.size() > longest) name.replace(longest - 2, std::string::npos, "..");
  return name;
}

// How much of `name` goes on a line of `letters`: whole words, and parts before hyphens.
std::size_t break_at(std::string_view name, std::size_t letters) {
  if (name.size() <= letters) return name.size();
  for (std::size_t at = letters; at > 0; --at) {
    if (name[at] == ' ' || name[at - 1] == '-') return at;
  }
  return 0;
}

// "tench" of "tench, Tinca tinca": names for people, else the others. Empty when it only repeats
// the number.
std::string name_of(const ClassNames& classes, std::int32_t label, std::size_t longest) {
  const auto at = static_cast<std::size_t>(label);
  const auto& names = at < classes.texts.size() ? classes.texts : classes.names;
  if (label < 0 || at >= names.size() || names[at] == std::to_string(label)) return {};
  return shortened(drawable(std::string_view(names[at]).substr(0, names[at].find(','))), longest);
}

std::string title_of(const DatasetInfo& info, const Survey& survey, std::size_t longest) {
  const std::string what = info.sidecar ? join(info.sidecar->source, " ", info.sidecar->split)
                                        : info.path.filename().string();
  const std::size_t seen = survey.class_counts.size();
  const std::size_t classes = std::max<std::size_t>(info.classes, seen);
  std::string title = drawable(join(what, what.empty() ? "" : ": ", grouped(info.size), " images, ",
                                    grouped(classes), classes == 1 ? " class" : " classes"));
  title.resize(std::min(title.size(), longest));
  return title;
}

// Where everything lies on the sheet.
struct Layout {
  bool in_rows = false;  // each class begins a row, with its name in front
  std::uint32_t gutter = 0;
  std::uint32_t cell_height = 0, cell_width = 0;  // of the images
  std::uint32_t step_y = 0, step_x = 0;

  std::uint32_t top(std::size_t row) const {
    return 2 * margin + Canvas::text_height + static_cast<std::uint32_t>(row) * step_y;
  }
  std::uint32_t left(std::size_t column) const {
    return margin + gutter + static_cast<std::uint32_t>(column) * step_x;
  }
};

Layout lay_out(const std::vector<SheetClass>& classes, const std::vector<Cell>& cells,
               const ClassNames& names) {
  Layout layout;
  layout.in_rows = classes.size() <= max_rows_of_classes;
  layout.cell_width = layout.in_rows ? 0 : largest_side;  // room for a name below
  for (const Cell& cell : cells) {
    layout.cell_height = std::max(layout.cell_height, cell.height());
    layout.cell_width = std::max(layout.cell_width, cell.width());
  }
  layout.step_x = layout.cell_width + gap;
  layout.step_y = layout.cell_height + gap;
  if (!layout.in_rows) {
    layout.step_x += gap;
    layout.step_y += 2 * (Canvas::text_height + gap) + gap;
    return layout;
  }
  layout.step_y = std::max(layout.step_y, 2 * Canvas::text_height + 3 * gap);
  for (const SheetClass& each : classes) {
    const std::string name = name_of(names, each.label, longest_name);
    layout.gutter = std::max(
        {layout.gutter, Canvas::text_width(std::to_string(each.label)), Canvas::text_width(name)});
  }
  layout.gutter += margin;
  return layout;
}

void draw_caption(Canvas& canvas, const Layout& layout, const Cell& cell, std::uint32_t top,
                  std::uint32_t left, const ClassNames& names) {
  const std::string number = std::to_string(cell.label);
  if (layout.in_rows) {
    if (!cell.first_of_class) return;
    const std::string name = name_of(names, cell.label, longest_name);
    const std::uint32_t lines = name.empty() ? 1 : 2;
    const std::uint32_t used = lines * Canvas::text_height + (lines - 1) * gap;
    top += (std::max(layout.cell_height, used) - used) / 2;
    canvas.draw_text(top, margin, number, ink);
    canvas.draw_text(top + Canvas::text_height + gap, margin, name, faint);
    return;
  }
  // "24 great" and "grey owl" below: what does not fit behind the number goes on under it.
  const std::size_t letters = layout.cell_width / Canvas::text_width("m");
  const std::size_t behind = letters > number.size() + 1 ? letters - number.size() - 1 : 0;
  const std::string name = name_of(names, cell.label, std::string::npos);
  const std::size_t broken = break_at(name, behind);
  top += layout.cell_height + gap;
  canvas.draw_text(top, left, number, ink);
  canvas.draw_text(top, left + Canvas::text_width(number + " "), name.substr(0, broken), faint);
  const std::size_t next = name.find_first_not_of(' ', broken);
  if (next == std::string::npos) return;
  canvas.draw_text(top + Canvas::text_height + gap, left, shortened(name.substr(next), letters),
                   faint);
}

std::vector<Cell> read_cells(const Dataset& dataset, const std::vector<SheetClass>& classes) {
  std::vector<Cell> cells;
  for (const SheetClass& each : classes) {
    for (const std::uint64_t sample : each.samples) {
      cells.push_back({each.label, sample, sample == each.samples.front(), {}});
    }
  }
  const unsigned threads = usable_cores();
  std::vector<Scratch> scratch(threads);
  sweep(cells.size(), threads, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      cells[i].image = read_image(dataset, cells[i].sample, scratch[worker]);
    }
  });
  return cells;
}

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
  const std::vector<Cell> cells = read_cells(dataset, classes);
  if (cells.empty()) fail(dataset.info().path, "no sample can be read: there is nothing to draw");
  const ClassNames& names = dataset.info().class_names;
  const Layout layout = lay_out(classes, cells, names);

  // Where each cell goes, and with them the size of the sheet.
  std::vector<std::pair<std::size_t, std::size_t>> places;  // row, column
  std::size_t row = 0, column = 0, widest = 0;
  for (const Cell& cell : cells) {
    const bool begins = layout.in_rows && cell.first_of_class && !places.empty();
    if (column == columns || (begins && column != 0)) ++row, column = 0;
    places.emplace_back(row, column++);
    widest = std::max(widest, column);
  }
  constexpr std::size_t shortest_title = 40;
  const auto least = static_cast<std::uint32_t>(shortest_title) * Canvas::text_width("m");
  const std::uint32_t width = std::max(layout.left(widest), margin + least) + margin;
  Canvas canvas(layout.top(row + 1) + margin, width, background);

  const std::size_t letters = (width - 2 * margin) / Canvas::text_width("m");
  canvas.draw_text(margin, margin, title_of(dataset.info(), survey, letters), ink);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const std::uint32_t top = layout.top(places[i].first), left = layout.left(places[i].second);
    const std::uint32_t y = top + (layout.cell_height - cell.height()) / 2;
    const std::uint32_t x = left + (layout.cell_width - cell.width()) / 2;
    if (cell.image.pixels.empty()) {
      canvas.draw_cross(y, x, wanted_side, faint);
    } else {
      canvas.draw_image(y, x, cell.image);
    }
    draw_caption(canvas, layout, cell, top, left, names);
  }
  return canvas.take();
}

}  // namespace feedrate::formats
