#include "tools/lab/jobs/training_request.h"

#include <fmt/format.h>

#include "formats/base/error.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

void complete(TrainingRequest& request) {
  if (!request.model.preset.empty()) {
    const Preset& known = preset(request.model.preset);
    if (request.model.network.empty()) request.model.network = known.network();
    if (request.data.recipe.empty()) request.data.recipe = known.augmentation();
  }
}

namespace {

constexpr std::uint32_t far_below =
    4;  // times smaller: training seldom survives the published rate

const TrainRecipe& published_recipe(const TrainingRequest::Model& model) {
  return model.preset.empty() ? network(model.network).recipe() : preset(model.preset).recipe();
}

}  // namespace

TrainRecipe changed_recipe(const TrainingRequest& request) {
  return changed(published_recipe(request.model), request.changes, Spelling::shell);
}

std::string rate_advice(const TrainingRequest& request) {
  const TrainRecipe& published = published_recipe(request.model);
  const TrainSettings& changes = request.changes;
  const std::string_view optimizer = published.update.optimizer;
  if (!changes.batch || changes.lr || changes.optimizer) return "";
  if (optimizer != "sgd" && optimizer != "nesterov") return "";
  if (*changes.batch > published.batch / far_below) return "";
  return fmt::format(
      "the learning rate, {:.2g}, was published for batches of {} images; if the loss grows, try "
      "--lr {:.2g}",
      published.schedule.rate, published.batch,
      published.schedule.rate * *changes.batch / published.batch);
}

}  // namespace feedrate::tools
