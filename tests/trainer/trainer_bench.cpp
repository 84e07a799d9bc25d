// LeNet's demand on the CPU beside the limit of its own matrix products, in one run: how much of a
// step is anything else.

#include <cblas.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "tests/trainer/batches.h"
#include "trainer/backend.h"
#include "trainer/network.h"

namespace feedrate {
namespace {

constexpr std::uint32_t batch = 64;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The median, so that a neighbour's burst of work does not count.
double median_seconds(int repeats, const std::function<void()>& work) {
  std::vector<double> times;
  work();
  for (int i = 0; i < repeats; ++i) times.push_back(seconds(work));
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<std::size_t>(repeats) / 2];
}

// The matrix products of a LeNet training step (forward, weights' and inputs' gradients), the
// convolutions image by image, on memory that is as hot or cold as the trainer's.
class Products {
 public:
  explicit Products(int threads) : threads_(threads), values_(64 << 20, 0.01F) {}

  void step() {
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
    for (int thread = 0; thread < threads_; ++thread) {
      for (int image = thread; image < int{batch}; image += threads_) {
        product(thread, 576, 20, 25);  // conv1
        product(thread, 20, 25, 576);
        product(thread, 64, 50, 500);  // conv2
        product(thread, 50, 500, 64);
        product(thread, 64, 500, 50);
      }
      product(thread, batch, 500 / threads_, 800);  // dense1, its longer side shared
      product(thread, 500, 800 / threads_, batch);
      product(thread, batch, 800 / threads_, 500);
      if (thread != 0) continue;
      product(thread, batch, 10, 500);  // dense2
      product(thread, 10, 500, batch);
      product(thread, batch, 500, 10);
    }
  }

 private:
  void product(int thread, int m, int n, int k) {
    float* a = values_.data() + static_cast<std::size_t>(thread) * (16 << 20);
    float* b = a + (1 << 20);
    float* c = b + (1 << 20);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
  }
  int threads_;
  std::vector<float> values_;
};

void compare(unsigned threads) {
  const Network& lenet = network("lenet");
  const auto session = backend("cpu").compile(make_plan(lenet.build({28, 28, 1}, 10), batch),
                                              {.threads = threads, .optimizer = &optimizer("sgd")});
  initialise(*session, 1);
  testing::RandomSource source({.batch = batch});
  session->upload(*source.next());
  const double step = median_seconds(101, [&] { session->train_step({.rate = 1e-4}, 0); });
  Products products(static_cast<int>(threads));
  const double limit = median_seconds(101, [&] { products.step(); });
  fmt::print(
      "lenet, batch {}, {} thread{}: {:.0f} images/s; its matrix products alone {:.0f} "
      "images/s; {:.0f} % of the limit\n",
      batch, threads, threads == 1 ? "" : "s", batch / step, batch / limit, 100 * limit / step);
}

}  // namespace
}  // namespace feedrate

int main() {
  for (const unsigned threads : {1U, 2U}) feedrate::compare(threads);
}
