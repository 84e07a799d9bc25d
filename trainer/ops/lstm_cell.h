#pragma once
// One unit of a long short-term memory at one row, for host and device. The gates (in, forget,
// cell, out) are taken after their sigmoid or tanh; callers compute the exponentials.

namespace feedrate::trainer {

struct LstmGates {
  float in, forget, cell, out;
};

constexpr float sigmoid(float exponential_of_minus_x) {
  return 1.0F / (1.0F + exponential_of_minus_x);
}

constexpr float lstm_cell(const LstmGates& gates, float before) {
  return gates.forget * before + gates.in * gates.cell;
}

struct LstmGradients {
  LstmGates sums;  // of the sums that the gates are computed from
  float before;    // of the cell one row earlier
};

/// From the gradient of the hidden state and, from the next row, of the cell. `before` is the cell
/// one row earlier, `squashed` the tanh of the cell.
constexpr LstmGradients lstm_gradients(const LstmGates& gates, float before, float squashed,
                                       float hidden_gradient, float cell_gradient) {
  const float cell = cell_gradient + hidden_gradient * gates.out * (1.0F - squashed * squashed);
  return {{cell * gates.cell * gates.in * (1.0F - gates.in),
           cell * before * gates.forget * (1.0F - gates.forget),
           cell * gates.in * (1.0F - gates.cell * gates.cell),
           hidden_gradient * squashed * gates.out * (1.0F - gates.out)},
          cell * gates.forget};
}

}  // namespace feedrate::trainer
