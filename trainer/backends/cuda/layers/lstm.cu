// An LSTM over the rows of an image: products by cuBLASLt, cells by our own kernels. Values lie row
// after row of the whole batch, so that each row is one product with the hidden state. All
// computation is fp32, whatever the type of the input and output.

#include <numeric>

#include "formats/base/bytes.h"
#include "trainer/backends/cuda/kernels/columns.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/products/matmul.cuh"
#include "trainer/ops/lstm_cell.h"

namespace feedrate::trainer::cuda {
namespace {

// Offsets of an element in its image, and in the rows of the batch: [row][image][channel · width].
struct Rows {
  std::int64_t images, real, width;
  ImageLayout layout;
  __device__ std::int64_t in_image(std::int64_t image, std::uint32_t e) const {
    return image * layout.elements() + e;
  }
  __device__ std::int64_t in_rows(std::int64_t image, std::uint32_t e) const {
    const std::int64_t channel = layout.channel(e), pixel = layout.pixel(e);
    const std::int64_t x = pixel % width, y = pixel / width;
    return ((y * images + image) * layout.channels + channel) * width + x;
  }
};
template <class T>
struct IntoRows {
  Rows rows;
  const T* from;
  float* to;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    to[rows.in_rows(image, e)] =
        image < rows.real ? static_cast<float>(from[rows.in_image(image, e)]) : 0.0F;
  }
};
template <class T>
struct OutOfRows {
  Rows rows;
  const float* from;
  T* to;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    to[rows.in_image(image, e)] = static_cast<T>(from[rows.in_rows(image, e)]);
  }
};

template <class Hidden>
struct Cells {
  std::int64_t units;
  float* sums;             // in: sums of the input and bias; out: gates
  const float* recurrent;  // sums of the hidden state; null for the first row
  const float* before;     // cells one row earlier; null for the first row
  float* cells;
  Hidden* hidden;
  __device__ void operator()(std::int64_t image, std::uint32_t unit) const {
    float value[4];
    for (std::int64_t gate = 0; gate < 4; ++gate) {
      const std::int64_t at = image * 4 * units + gate * units + unit;
      const float sum = sums[at] + (recurrent == nullptr ? 0.0F : recurrent[at]);
      value[gate] = gate == 2 ? tanhf(sum) : sigmoid(expf(-sum));
      sums[at] = value[gate];
    }
    const LstmGates gates{value[0], value[1], value[2], value[3]};
    const std::int64_t at = image * units + unit;
    const float cell = lstm_cell(gates, before == nullptr ? 0.0F : before[at]);
    cells[at] = cell;
    hidden[at] = static_cast<Hidden>(gates.out * tanhf(cell));
  }
};

template <class Hidden>
struct CellGradients {
  std::int64_t real, units;
  float* sums;  // in: gates; out: the gradients of their sums
  const float* before;
  const float* cells;
  const Hidden* hidden_gradients;
  float* cell_gradients;
  bool last_row;
  __device__ void operator()(std::int64_t image, std::uint32_t unit) const {
    float* gate = sums + image * 4 * units + unit;
    const std::int64_t at = image * units + unit;
    if (image >= real) {
      for (std::int64_t k = 0; k < 4; ++k) gate[k * units] = 0;
      return;
    }
    const LstmGradients found = lstm_gradients(
        {gate[0], gate[units], gate[2 * units], gate[3 * units]},
        before == nullptr ? 0.0F : before[at], tanhf(cells[at]),
        static_cast<float>(hidden_gradients[at]), last_row ? 0.0F : cell_gradients[at]);
    gate[0] = found.sums.in;
    gate[units] = found.sums.forget;
    gate[2 * units] = found.sums.cell;
    gate[3 * units] = found.sums.out;
    cell_gradients[at] = found.before;
  }
};

std::size_t aligned(std::int64_t floats) {
  return formats::round_up(static_cast<std::size_t>(floats) * sizeof(float), device_alignment);
}

// The number of images to which a row is padded, so that every row of states is aligned.
std::int64_t filled(std::int64_t images, std::int64_t units) {
  constexpr std::int64_t floats = device_alignment / sizeof(float);
  return formats::round_up(images, floats / std::gcd(floats, units));
}

template <class T>
class LstmLayer final : public LayerOf<T> {
 public:
  explicit LstmLayer(const LayerSite& site)
      : context_(site.context),
        input_(site.input),
        real_(site.batch),
        rows_(site.input.height),
        row_(site.input.channels * site.input.width),
        units_(site.node().extent.channels),
        gates_(4 * units_),
        images_(filled(real_, units_)),
        all_(rows_ * images_),
        weight_(site.parameters.at(0)),
        recurrent_(site.parameters.at(1)),
        bias_(site.parameters.at(2)),
        inputs_(site.context, site.node().name,
                {.a = {row_, gates_, Matrix::transposed},
                 .b = {row_, all_, Matrix::as_is},
                 .bias = bias_.value}),
        hidden_(site.context, site.node().name,
                {.a = {units_, gates_, Matrix::transposed}, .b = {units_, images_, Matrix::as_is}}),
        hidden_gradient_(
            site.context, site.node().name,
            {.a = {units_, gates_, Matrix::as_is}, .b = {gates_, images_, Matrix::as_is}}),
        weight_gradient_(
            site.context, site.node().name,
            {.a = {row_, all_, Matrix::as_is}, .b = {gates_, all_, Matrix::transposed}}),
        recurrent_gradient_(
            site.context, site.node().name,
            {.a = {units_, all_, Matrix::as_is}, .b = {gates_, all_, Matrix::transposed}}),
        input_gradient_(site.context, site.node().name,
                        {.a = {row_, gates_, Matrix::as_is}, .b = {gates_, all_, Matrix::as_is}}) {}

  std::size_t saved_bytes() const override {
    return aligned(all_ * row_) + aligned(all_ * gates_) + 2 * aligned(all_ * units_);
  }
  std::size_t scratch_bytes() const override {
    const std::size_t workspace = std::max(
        {inputs_.workspace_bytes(), hidden_.workspace_bytes(), hidden_gradient_.workspace_bytes(),
         weight_gradient_.workspace_bytes(), recurrent_gradient_.workspace_bytes(),
         input_gradient_.workspace_bytes(), column_scratch<float, 1>(context_, all_, gates_)});
    return aligned(images_ * gates_) + 2 * aligned(images_ * units_) + workspace;
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step&) override {
    const Parts at(*this, buffers);
    each_of_images(context_, "lstm rows", images_, input_.elements(),
                   IntoRows<T>{rows_of_images(), buffers.input, at.inputs});
    inputs_.run(weight_.value, at.inputs, at.sums, at.workspace);
    check(cudaMemsetAsync(at.before, 0, static_cast<std::size_t>(row_units()) * sizeof(float),
                          context_.compute()),
          "cudaMemsetAsync");
    for (std::int64_t row = 0; row < rows_; ++row) {
      if (row > 0) {
        hidden_.run(recurrent_.value, at.before + row * row_units(), at.products, at.workspace);
      }
      if (row + 1 == rows_) {
        run_cells(at, row, real_, buffers.output);
      } else {
        run_cells(at, row, images_, at.before + (row + 1) * row_units());
      }
    }
  }

  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    const Parts at(*this, buffers);
    run_cell_gradients(at, rows_ - 1, buffers.output_gradient);
    for (std::int64_t row = rows_ - 1; row > 0; --row) {
      hidden_gradient_.run(recurrent_.value, at.sums + row * images_ * gates_, at.hidden_gradients,
                           at.workspace);
      run_cell_gradients(at, row - 1, at.hidden_gradients);
    }
    weight_gradient_.run(at.inputs, at.sums, weight_.gradient, at.workspace);
    recurrent_gradient_.run(at.before, at.sums, recurrent_.gradient, at.workspace);
    sum_rows(context_, "lstm bias gradient", all_, gates_, at.sums, bias_.gradient, at.workspace);
    if (buffers.input_gradient == nullptr) return;
    // The inputs are no longer needed: their gradient overwrites them.
    input_gradient_.run(weight_.value, at.sums, at.inputs, at.workspace);
    each_of_images(context_, "lstm rows", real_, input_.elements(),
                   OutOfRows<T>{rows_of_images(), at.inputs, buffers.input_gradient});
  }

 private:
  // Hidden states, or cells, in one row.
  std::int64_t row_units() const { return images_ * units_; }
  Rows rows_of_images() const { return {images_, real_, input_.width, image_layout(input_)}; }

  struct Parts {
    Parts(const LstmLayer& layer, const BuffersOf<T>& buffers)
        : inputs(reinterpret_cast<float*>(buffers.saved)),
          sums(behind(inputs, layer.all_ * layer.row_)),
          cells(behind(sums, layer.all_ * layer.gates_)),
          before(behind(cells, layer.all_ * layer.units_)),
          products(reinterpret_cast<float*>(buffers.scratch)),
          hidden_gradients(behind(products, layer.images_ * layer.gates_)),
          cell_gradients(behind(hidden_gradients, layer.row_units())),
          workspace(reinterpret_cast<std::byte*>(behind(cell_gradients, layer.row_units()))) {}
    static float* behind(float* part, std::int64_t floats) {
      return part + aligned(floats) / sizeof(float);
    }
    float* inputs;  // [row][image][value]
    float* sums;    // [row][image][gate]: gates, then the gradients of their sums
    float* cells;   // [row][image][unit]
    float* before;  // [row][image][unit]: the hidden state before the row
    float* products;
    float* hidden_gradients;
    float* cell_gradients;
    std::byte* workspace;  // of the products
  };

  template <class Hidden>
  void run_cells(const Parts& at, std::int64_t row, std::int64_t images, Hidden* hidden) const {
    const bool first = row == 0;
    each_of_images(
        context_, "lstm cells", images, units_,
        Cells<Hidden>{units_, at.sums + row * images_ * gates_, first ? nullptr : at.products,
                      first ? nullptr : at.cells + (row - 1) * row_units(),
                      at.cells + row * row_units(), hidden});
  }
  template <class Hidden>
  void run_cell_gradients(const Parts& at, std::int64_t row, const Hidden* gradients) const {
    each_of_images(context_, "lstm cell gradients", images_, units_,
                   CellGradients<Hidden>{real_, units_, at.sums + row * images_ * gates_,
                                         row == 0 ? nullptr : at.cells + (row - 1) * row_units(),
                                         at.cells + row * row_units(), gradients, at.cell_gradients,
                                         row + 1 == rows_});
  }

  const Context& context_;
  Extent input_;
  std::int64_t real_, rows_, row_, units_, gates_;
  std::int64_t images_;  // including those that pad a row
  std::int64_t all_;     // rows_ × images_
  DeviceParameter weight_, recurrent_, bias_;
  Matmul inputs_, hidden_, hidden_gradient_, weight_gradient_, recurrent_gradient_, input_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_lstm_layer(const LayerSite& site) {
  return make_typed<LstmLayer>(site);
}

}  // namespace feedrate::trainer::cuda
