#include "tools/console/json_fields.hpp"
#include "tools/lab/measure/row_fields.h"
#include "tools/lab/report/study/attribution.h"
#include "tools/lab/report/study/choice.h"
#include "tools/lab/report/study/scaling.h"
#include "tools/lab/report/write/output.h"

namespace feedrate::tools {

template <>
inline constexpr Heading heading_of<Point>{"point", "A measured rate."};

template <class Field>
void for_each_field(const Point& point, const Field& field) {
  field("threads", point.threads, {"of the loader; 0 for demand and compute"});
  field("images_per_second", point.rate, {"median of all repeats", Unit{"images/s"}, Digits{3}});
  field("low", point.low, {"the slowest repeat", Unit{"images/s"}, Digits{3}});
  field("high", point.high, {"the fastest repeat", Unit{"images/s"}, Digits{3}});
  field("predicted", point.predicted,
        {"before it was measured", Unit{"images/s"}, Null{"not predicted"}});
  field("stall_percent", point.stall,
        {"of the trainer's time, without a batch", Unit{"%"}, Null{"other kinds than delivered"}});
  field("workers_seen", point.workers_seen,
        {"loader threads that did some of the work", Null{"demand and compute"}});
}

template <>
inline constexpr Heading heading_of<PredictionError>{
    "prediction-error", "How far predicted rates are from the measured ones."};

template <class Field>
void for_each_field(const PredictionError& error, const Field& field) {
  field("predictions", error.predictions, {"how many there were"});
  field("median_percent", error.median,
        {"|predicted − measured| / measured, the median", Unit{"%"}, Digits{3}});
  field("largest_percent", error.largest,
        {"|predicted − measured| / measured, the largest", Unit{"%"}, Digits{3}});
}

template <>
inline constexpr Heading heading_of<AttributedPoint>{
    "attribution",
    "Where the time of an image goes, for a format at its fewest threads and at its knee. The "
    "parts add up to `total_us`."};

template <class Field>
void for_each_field(const AttributedPoint& point, const Field& field) {
  const Attribution& parts = point.parts;
  const auto time = [&](const char* key, double value, std::string_view meaning) {
    field(key, value, {meaning, Unit{"µs"}, Digits{3}});
  };
  field("format", point.format, {"as in the curve"});
  field("threads", point.threads, {"of the loader"});
  field("at_knee", point.at_knee,
        {"whether these are the fewest threads that are as fast as any number"});
  time("total_us", parts.total, "1 / delivered");
  time("compute_us", parts.compute, "the trainer with its batches in memory");
  time("upload_us", parts.upload,
       "waiting for copies to the device; 0 if compute was not measured");
  time("read_us", parts.read, "waiting for data, by the share of the workers' time that reads");
  time("decode_us", parts.decode,
       "waiting for data, by the share of the workers' time that decodes");
  time("augment_us", parts.augment,
       "waiting for data, by the share of the workers' time that resizes and augments");
  time("loading_us", parts.loading, "waiting for data, if the workers' times are not known");
  time("storage_us", parts.storage, "added by a cold start");
  time("shared_cores_us", parts.sharing,
       "neither computing nor waiting: loader and trainer share cores");
}

template <>
inline constexpr Heading heading_of<Curve>{"curve", "One format, read by one tool."};

template <class Field>
void for_each_field(const Curve& curve, const Field& field) {
  constexpr std::string_view unmeasured = "not measured";
  const auto knee_of = [](const std::vector<Point>& points) {
    return points.empty() ? std::nullopt : std::optional(knee(points).threads);
  };
  field("format", curve.format,
        {"`lmdb × raw`, `pytorch · lmdb × raw`, `lmdb × raw, cold`, `lmdb × jpeg, scaled`; `lmdb × "
         "raw (data/a)` where datasets are stored alike"});
  field("tool", curve.tool, {"that was measured"});
  field("cache", curve.cache, {"`warm` or `cold`"});
  field("supply", curve.supply, {"by rising number of threads"});
  field("delivered", curve.delivered, {"by rising number of threads"});
  field("supply_knee", knee_of(curve.supply),
        {"the fewest threads whose supply is as good as any", Null{unmeasured}});
  field("delivered_knee", knee_of(curve.delivered),
        {"the fewest threads that deliver as much as any number", Null{unmeasured}});
  field("demand", curve.demand, {"of this tool's trainer", Null{unmeasured}});
  field("compute", curve.compute,
        {"demand without copies to the device", Null{"not measured; the CPU"}});
  field("prediction_error", prediction_error({&curve, 1}),
        {"of this curve", Null{"nothing was predicted"}});
}

template <>
inline constexpr Heading heading_of<Need>{
    "need", "The cores of this machine's kind that feed the study's device from one format."};

template <class Field>
void for_each_field(const Need& need, const Field& field) {
  field("format", need.curve->format, {"as in the curve"});
  field("demand", need.demand, {"of the device", Unit{"images/s"}, Digits{3}});
  field("cores", whole_cores(need.cores.likely),
        {"for the loader, beside the device's own threads"});
  field("fewest_cores", whole_cores(need.cores.low), {"if all doubts are in its favour"});
  field("most_cores", known_cores(need.cores.high),
        {"if all are not", Null{"then no number of them is known to be enough"}});
  field("unrounded_cores", need.cores.likely, {"`cores`, in parts of one", Digits{4}});
  field(
      "kernel_percent", only_if(need.scaling.kernel_share > 0, 100 * need.scaling.kernel_share),
      {"of an image's processor time, in the kernel", Unit{"%"}, Null{"not measured"}, Digits{1}});
  field("measured_threads", need.scaling.most, {"of the supply that they follow from"});
  field("tried_error_percent",
        only_if(need.scaling.tried().has_value(), 100 * need.scaling.tried().value_or(0)),
        {"how much too high that supply is, predicted from the fewest threads", Unit{"%"},
         Null{"only one number of threads was measured"}, Digits{1}});
}

namespace {

struct JudgedStudy {
  Study study;
  StudyVerdict verdict;
};

struct Answer {
  JudgedStudy of;
};

std::vector<JudgedStudy> judged(const Report& report) {
  std::vector<JudgedStudy> all;
  for (std::size_t i = 0; i < report.studies.size(); ++i) {
    all.push_back({report.studies[i], report.verdicts[i]});
  }
  return all;
}

}  // namespace

template <class Field>
void for_each_field(const Answer& answer, const Field& field) {
  const StudyVerdict& verdict = answer.of.verdict;
  field("sentence", sentence(answer.of.study, verdict), {"title, reason and answer in one line"});
  field("answer", verdict.answer, {"`1 loader thread is enough with lmdb × raw`"});
  field("reason", verdict.reason(), {"the figures behind it"});
  field("limit", name(verdict.limit), {"the bottleneck"});
  field(
      "loss_percent", verdict.loss,
      {"of the trainer's demand, that loading costs", Unit{"%"}, Null{"not measured"}, Digits{2}});
  field("format", unless_empty(verdict.format), {"chosen format", Null{"no row is of loading"}});
  field("threads", verdict.threads, {"recommended; more than were measured where more are needed"});
  field("measured_threads", verdict.measured_threads, {"that the rate is of"});
  field("cores", verdict.cores ? std::optional(verdict.cores->likely) : std::nullopt,
        {"that feed the demand from this format",
         Null{"it is fed, waits for a disk or a server, or supply was not measured"}, Digits{2}});
  field("contended", verdict.contended,
        {"whether other programs had the cores, so that `cores` follows from CPU time"});
  field("images_per_second", verdict.rate,
        {"delivered there; supply where nothing was trained", Unit{"images/s"}, Digits{3}});
  field("demand", verdict.demand, {"of the trainer alone", Unit{"images/s"}, Null{"not measured"}});
  field("stall_percent", verdict.stall,
        {"of the trainer's time, without a batch", Unit{"%"}, Null{"not measured"}});
  field("as_good", verdict.as_good, {"other formats that do as well"});
  field("too_close", verdict.too_close, {"other formats that the measurements cannot rank"});
}

template <>
inline constexpr Heading heading_of<JudgedStudy>{
    "study", "Rows of the same images, network, device, precision, recipe and batch."};

template <class Field>
void for_each_field(const JudgedStudy& judged, const Field& field) {
  constexpr std::string_view supply_alone = "only supply was measured";
  const Study& study = judged.study;
  field("title", study.title(), {"network, images, device, precision, batch"});
  field("dataset", unless_empty(study.dataset),
        {"name of the images, derived from the paths", Null{"the paths give none"}});
  field("digest", study.digest, {"of the images", Unit{sha256_unit}});
  field("network", unless_empty(study.network), {"that was trained", Null{supply_alone}});
  field("device", unless_empty(study.device), {"that trained it", Null{supply_alone}});
  field("precision", unless_empty(study.precision),
        {"in which it was trained", Null{supply_alone}});
  field("recipe", study.recipe, {"augmentation"});
  field("batch", study.batch, {"images in a step"});
  field("verdict", Answer{judged}, {"the answer"});
  field("demand", study.demand,
        {"of feedrate's trainer, or of the only tool measured", Null{"not measured"}});
  field("curves", study.curves, {"one for each format, tool and cache"});
  field("emulates", unless_empty(study.emulates),
        {"the rate of an emulated device, and its source", Null{"nothing was emulated"}});
  field("needs", needs(study),
        {"cores of this kind by format; empty where the demand is not known"});
  field("prediction_error", prediction_error(study.curves),
        {"of all curves", Null{"nothing was predicted"}});
  field("attribution", attribute(study), {"where the time of an image goes; empty without demand"});
}

template <>
inline constexpr Heading heading_of<Report>{"report", "What `feedrate report` prints."};

template <class Field>
void for_each_field(const Report& report, const Field& field) {
  field("studies", judged(report),
        {"rows of the same images, network, device, precision, recipe and batch"});
  field("doubts", report.doubts, {"why some rows are doubtful"});
  field("rows", report.rows, {"that were read"});
}

Description describe_report() { return description_of(Report{}); }

std::string report_json(const Report& report) { return json_text_of(report); }

}  // namespace feedrate::tools
