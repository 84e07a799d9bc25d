// One LSTM over the rows of an image and a dense layer, as in Keras' lstm_text_generation, which
// reads characters: with one-hot images of 40 rows of 60 and 60 classes it is that network. Trained
// by the same RMSprop.

#include "trainer/networks/common.h"

namespace feedrate::trainer {
namespace {

Graph lstm(Builder& b, std::uint32_t classes) {
  const Builder::Value x = b.lstm(b.input(1.0 / 255), 128, glorot_layer);
  return b.softmax_loss(b.dense(x, classes, glorot_layer));
}

const Network lstm_row(
    "lstm", "an LSTM over the rows of an image and a dense layer; Keras'",
    {mnist_image,
     10,
     {.batch = 128,
      .update = {.optimizer = "rmsprop", .momentum = 0, .beta2 = 0.9, .epsilon = 1e-7},
      .schedule = {.rate = 0.001}},
     lstm,
     "mnist"});

}  // namespace

extern const Network& lstm_network;
const Network& lstm_network = lstm_row;

}  // namespace feedrate::trainer
