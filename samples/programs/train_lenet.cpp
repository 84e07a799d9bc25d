// train_lenet TRAIN TEST: an epoch of LeNet on the CPU, then its accuracy.

#include <cstdio>

#include "formats/base/error.h"
#include "formats/dataset.h"
#include "loader/loader.h"
#include "trainer/backends/backend.h"
#include "trainer/loop/trainer.h"
#include "trainer/networks/network.h"

using namespace feedrate;

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: train_lenet TRAIN TEST\n");
    return 2;
  }
  try {
    const auto images = formats::open_dataset(words[1]);
    const auto test_images = formats::open_dataset(words[2]);
    const loader::Recipe& recipe = loader::recipe("mnist");
    const trainer::Network& network = trainer::network("lenet");
    const trainer::TrainRecipe published = network.recipe();

    trainer::Graph graph =
        network.build(recipe.shape(images->info().shape), formats::count_classes(*images));
    const auto session = trainer::backend("cpu").compile(
        trainer::make_plan(std::move(graph), published.batch),
        {.optimizer = &trainer::optimizer(published.update.optimizer)});
    trainer::initialise(*session, 1);

    loader::Loader training(*images, recipe, {.threads = 1, .batch = published.batch});
    const trainer::TrainResult result =
        trainer::train(*session, training,
                       {.schedule = published.schedule, .update = update_settings(published)});
    loader::Loader testing(*test_images, recipe.evaluation(),
                           {.threads = 1, .batch = published.batch, .order = {.shuffle = false}});
    const trainer::Evaluation found = trainer::evaluate(*session, testing);
    std::printf("%llu steps, %.0f images/s, accuracy %.4f\n",
                static_cast<unsigned long long>(result.steps), result.images_per_second,
                found.accuracy);
  } catch (const formats::Error& error) {
    std::fprintf(stderr, "train_lenet: %s\n", error.what());
    return 1;
  }
}
