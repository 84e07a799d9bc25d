#include "tools/report/study/published_2018.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/cli/text.h"

namespace feedrate::tools {
using namespace formats;

// Batches and frameworks as the comparison has them; fp32, loader threads as many as cores. Its
// power was sampled once a second and is given for no case: short runs show an idle GPU.
const std::array<Published, 9> published_2018{{
    {"LeNet, MNIST", "lenet", "mnist", 64, 46691, "MXNet", 1573, "CNTK", 180},
    {"AlexNet, CIFAR-10", "alexnet:cifar", "cifar", 128, 17903, "Caffe", 405, "TensorFlow"},
    {"ResNet50, CIFAR-10", "resnet50:cifar", "cifar", 128, 3237, "MXNet", 108, "CNTK"},
    {"GoogLeNet, CIFAR-10", "googlenet:cifar", "cifar", 128, 3891, "MXNet", 49, "MXNet"},
    {"VGG16, CIFAR-10", "vgg16:cifar", "cifar", 128, 3038, "MXNet", 11, "PyTorch", 571},
    {"AlexNet, ImageNet", "alexnet", "imagenet", 128, 2169, "PyTorch", 26, "CNTK", 1081},
    {"ResNet50, ImageNet", "resnet50", "imagenet", 8, 127, "MXNet", 6, "CNTK", 716},
    {"GoogLeNet, ImageNet", "googlenet", "imagenet", 8, 249, "MXNet", 6, "CNTK", 493},
    {"VGG16, ImageNet", "vgg16", "imagenet", 8, 96, "TensorFlow", 3, "CNTK", 1585},
}};

namespace {

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == b;
         }) != text.end();
}

/// "resnet50:mxnet-cifar" is of the family "resnet50"; for CIFAR where its variant says so.
bool is_network(std::string_view name, const Published& one) {
  const auto family = [](std::string_view of) { return of.substr(0, of.find(':')); };
  if (family(name) != family(one.network)) return false;
  return contains(name, "cifar") == contains(one.network, "cifar");
}

/// Ours: the fastest row of feedrate of a case, on a device; null for none.
const Run* fastest(const std::vector<Run>& runs, const Published& one, std::string_view device) {
  const Run* best = nullptr;
  for (const Run& run : runs) {
    const bool own = run.kind == delivered_kind && run.tool == "feedrate";
    if (!own || run.cache != warm_cache || case_of(run) != &one) continue;
    if (!run.device || !run.device->starts_with(device)) continue;
    if (best == nullptr || run.images_per_second > best->images_per_second) best = &run;
  }
  return best;
}

std::string ours(const Run* run, unsigned batch) {
  if (run == nullptr) return not_measured;
  const std::string rate = quantity(run->images_per_second);
  return run->batch == batch ? rate : fmt::format("{} ({})", rate, run->batch);
}

std::string theirs(double rate, std::string_view framework) {
  return fmt::format("{} {}", grouped(static_cast<std::uint64_t>(rate)), framework);
}

}  // namespace

const Published* case_of(const Run& run) {
  if (!run.network) return nullptr;
  const auto* const found = std::ranges::find_if(published_2018, [&](const Published& one) {
    return is_network(*run.network, one) && contains(run.dataset, one.images);
  });
  return found == published_2018.end() ? nullptr : found;
}

Table published_table(const std::vector<Run>& runs) {
  constexpr Table::Align left = Table::Align::left;
  Table table{.title = "Beside the comparison of 2018",
              .note = fmt::format(
                  "The best of five frameworks in {}: fp32, one NVIDIA P100, and processors of 12 "
                  "or 20 cores. Ours is the fastest delivered rate of these rows on their own "
                  "machine, with our batch in brackets where it is another. The frameworks' "
                  "networks of one name "
                  "differ, up to 75 times in parameters; memory is that of the GPU, power was not "
                  "given in a way that compares.",
                  comparison_of_2018),
              .columns = {{"case", left},
                          {"batch"},
                          {"P100 images/s"},
                          {"ours on a GPU"},
                          {"CPU images/s"},
                          {"ours on a CPU"},
                          {"P100 MiB"},
                          {"ours MiB"},
                          {"our GPU W"}},
              .rows = {}};
  const bool any = std::ranges::any_of(runs, [](const Run& run) {
    return run.kind == delivered_kind && run.tool == "feedrate" && run.cache == warm_cache &&
           case_of(run) != nullptr;
  });
  if (!any) return table;
  for (const Published& one : published_2018) {
    const Run* gpu = fastest(runs, one, "cuda");
    const Run* cpu = fastest(runs, one, "cpu");
    table.rows.push_back(
        {.cells = {std::string(one.name), std::to_string(one.batch), theirs(one.p100, one.p100_by),
                   ours(gpu, one.batch), theirs(one.cpu, one.cpu_by), ours(cpu, one.batch),
                   rate_cell(one.memory_mib),
                   gpu == nullptr ? not_measured : rate_cell(gpu->telemetry.gpu_memory_mib),
                   gpu == nullptr ? not_measured : rate_cell(gpu->telemetry.gpu_power_w)},
         .chosen = false});
  }
  return table;
}

}  // namespace feedrate::tools
