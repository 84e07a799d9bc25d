#pragma once
// What each key of a row means: see tools/console/fields.h.

#include "tools/lab/measure/row.h"

namespace feedrate::tools {

template <>
inline constexpr Heading heading_of<Row>{
    "rows",
    "A line of `results.jsonl`, and of `feedrate bench --json`: a measured point, written after "
    "its last round. Apart from the rates, measured values come from the repeat whose rate is "
    "nearest to the median."};
template <>
inline constexpr Heading heading_of<Environment>{"environment", "The machine and the build."};

/// What says which point a row is of.
template <class RowType, class Field>
void for_each_point_field(RowType& row, const Field& field) {
  field("kind", row.kind,
        {"`supply`: the loader alone. `demand`: the trainer on batches in memory. `compute`: "
         "demand without copies to the device. `delivered`: both at work"});
  field("tool", row.tool,
        {"`feedrate`, or the framework that was measured: `pytorch`, `pytorch:cuda-graph`, "
         "`pytorch:compile`, `pytorch+feedrate`, `tensorflow`, `mxnet`"});
  field("dataset", row.dataset, {"path as given; of a script, the type of its dataset"});
  field("format", row.format, {"container; of a script, the class of its loader"});
  field("codec", row.codec, {"how the images are encoded; of a script, empty"});
  field("decode", row.decode,
        {"JPEGs were decoded by the loader: `full`, or `scaled` where a crop allows it; or packed "
         "ones by the `device`",
         Absent{"a row of an earlier version, which means `full`"}});
  field("recipe", row.recipe, {"augmentation; of a script, empty"});
  field("network", row.network, {"that was trained; of a script, its name", Null{"supply"}});
  field("device", row.device,
        {"`cpu`, `cuda`; or `emulated h100x8`, one that is not here: its pace was kept by "
         "sleeping; of a script, `pytorch`",
         Null{"supply"}});
  field("precision", row.precision,
        {"`fp32`, `tf32`, `bf16`, `fp16`; of an emulated device as published, `mixed`",
         Null{"supply; an emulated device whose source does not say; a script"}});
  field("batch", row.batch, {"images in a step"});
  field("cache", row.cache,
        {"where the first epoch's samples came from: `warm`, the page cache; `cold`, storage"});
  field("threads", row.threads,
        {"of the loader; of a script, its workers", Null{"demand and compute"}});
}

template <class RowType, class Field>
requires std::same_as<std::remove_const_t<RowType>, Row>
void for_each_field(RowType& row, const Field& field) {
  constexpr std::string_view no_loader = "demand and compute; the tool does not report it";
  field("schema", row.schema, {"2; other numbers mean other keys and are refused"});
  for_each_point_field(row, field);
  field("servers", row.servers,
        {"settings of a dataset's URL, as options: `--connections 8`, `--cache-dir DIR`, …",
         Absent{"the dataset is no URL, or all are as usual"}});
  field("shuffle_blocks", row.shuffle_blocks,
        {"neighbours that a shuffle keeps together", Unit{"images"},
         Absent{"samples were shuffled among all; demand and compute"}});
  field("emulates", row.emulates,
        {"images/s of the emulated device and their source", Absent{"nothing was emulated"}});
  field("emulated_rate", row.emulated_rate,
        {"of the emulated device", Unit{"images/s"},
         Absent{"nothing was emulated; a row of an earlier version"}});
  field("compute_threads", row.compute_threads,
        {"of a CPU trainer", Null{"supply; another device"}});
  field("workers_seen", row.workers_seen,
        {"loader threads that did some of the work", Null{no_loader}});
  field("repeats", row.repeats, {"one for each process", Unit{"images/s"}});
  field("images_per_second", row.images_per_second, {"median of the repeats", Unit{"images/s"}});
  field(
      "predicted", row.predicted,
      {"from supply and demand, before it was measured; of a script, from what a batch costs",
       Unit{"images/s"},
       Null{"supply, but for a script's; demand and compute; supply or demand was not measured"}});
  field("warmup_seconds", row.warmup_seconds,
        {"left out of the rate", Unit{"s"}, Null{"not known"}});
  field("stall_percent", row.stall_percent,
        {"of the trainer's time, without a batch: it waits or, with 0 threads, loads itself",
         Unit{"%"}, Null{"other kinds than delivered"}});
  field("wait_ms", row.wait_ms,
        {"of a step, without a batch", Unit{"ms"}, Null{"other kinds than delivered"}});
  field("read_us", row.read_us,
        {"a worker's time to read an image; of a script, in its dataset, beside the others",
         Unit{"µs"}, Null{no_loader}});
  field("decode_us", row.decode_us,
        {"a worker's time to decode an image", Unit{"µs"}, Null{no_loader}});
  field("augment_us", row.augment_us,
        {"a worker's time to augment an image; of a script, with collating", Unit{"µs"},
         Null{no_loader}});
  field("cpu_us", row.cpu_us,
        {"processor time for an image, all threads", Unit{"µs"},
         Null{"the tool does not report it"}});
  field("kernel_us", row.kernel_us,
        {"of it, in the kernel", Unit{"µs"},
         Absent{"another tool; a trainer that is not emulated; a row of an earlier version"}});
  field(
      "remote", row.remote,
      {"what the dataset's server was asked for by the median repeat, from opening on",
       Absent{"the dataset is on this machine; demand and compute; a row of an earlier version"}});
  field("cause", row.cause,
        {"of a script: why its loop waits for data, and what to change, in sentences",
         Absent{"no script; its supply and demand; a restart; a row of an earlier version"}});
  field(
      "digest", row.digest,
      {"of the dataset's images; of a script, of its name and its dataset's type and length; only "
       "rows with equal digests are compared",
       Unit{sha256_unit}});
  for_each_field(row.telemetry, field);
  field("environment", row.environment, {"the machine and the build"});
}

template <class EnvironmentType, class Field>
requires std::same_as<std::remove_const_t<EnvironmentType>, Environment>
void for_each_field(EnvironmentType& environment, const Field& field) {
  constexpr std::string_view no_gpu = "no GPU, or its driver does not answer";
  constexpr std::string_view no_cuda = "without the CUDA backend";
  constexpr std::string_view no_report = "the system does not report it";
  field("cpu", environment.cpu, {"model name"});
  field("cores", environment.cores, {"that the process may use"});
  field("cores_present", environment.cores_present, {"of the machine"});
  field("quota", environment.quota,
        {"CPU limit of the control group", Unit{"cores"}, Null{"no limit"}});
  field("memory_mib", environment.memory_mib, {"of the machine", Unit{"MiB"}});
  field("os", environment.os, {"name and version of the system"});
  field("kernel", environment.kernel, {"name and version"});
  field("compiler", environment.compiler, {"that built feedrate"});
  field("build_type", environment.build_type, {"`Release`, …"});
  field("flags", environment.flags, {"of the compiler"});
  field("commit", environment.commit, {"of the source"});
  field("version", environment.version, {"of feedrate"});
  field("libraries", environment.libraries,
        {"those that decide the speed, with the versions in use"});
  field("gpu", environment.gpu, {"name", Null{no_gpu}});
  field("gpu_driver", environment.gpu_driver, {"version", Null{no_gpu}});
  field("cuda", environment.cuda, {"version of the runtime", Null{no_cuda}});
  field("cudnn", environment.cudnn, {"version", Null{no_cuda}});
  field("file_system", environment.file_system,
        {"that holds the dataset: `ext4`, …", Null{no_report}});
  field("mount_options", environment.mount_options, {"of that file system", Null{no_report}});
  field("disk", environment.disk, {"model, or the system's name for it", Null{"no single disk"}});
  field("disk_rotational", environment.disk_rotational,
        {"as its driver says", Null{"no single disk"}});
  field("command", environment.command, {"the command line of the bench, quoted for a shell"});
  field("time", environment.time, {"UTC, ISO 8601"});
}

}  // namespace feedrate::tools
