#include "tools/program/cli/topics.h"

#include <fmt/format.h>

#include "converters/downloads/guide.h"
#include "formats/base/text.h"
#include "tools/console/bars.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr std::size_t topic_columns = 24;

std::string sources_text(std::size_t columns) {
  constexpr std::size_t indent = 7;
  std::string text =
      wrapped(
          "Where to download each published dataset, and which command reads it. The commands work "
          "with any --to and any option of 'feedrate convert'. A line that begins with 'try' makes "
          "synthetic images in the same layout.",
          0, columns) +
      "\n";
  for (const converters::SourceGuide& guide : converters::source_guides()) {
    text += fmt::format("\n{}\n  get  {}\n  from {}\n", guide.name,
                        wrapped(guide.files, indent, columns), guide.where);
    if (!guide.synth.empty()) {
      text += fmt::format("  try  feedrate synth {} --out made\n", guide.synth);
    }
    for (const std::string_view command : guide.commands) text += fmt::format("    {}\n", command);
  }
  return text;
}

/// Lines that begin with a blank stay as they are; the others are paragraphs, one line each.
std::string paragraphs_text(std::string_view paragraphs, std::size_t columns) {
  std::string text;
  while (!paragraphs.empty()) {
    const std::string_view line = take_line(paragraphs);
    text += (line.starts_with(' ') ? std::string(line) : wrapped(line, 0, columns)) + "\n";
  }
  return text;
}

std::string servers_text(std::size_t columns) {
  return paragraphs_text(
      R"(Datasets on web servers and in S3

Every command that reads a dataset also takes a URL:
  feedrate load https://host/data/train/
  feedrate load s3://bucket/train/data.rec
  feedrate load 'https://host/train-{000000..000099}.tar'

The images and their order are those of the same files on disk. Feedrate reads recordio, tfrecord and webdataset by range requests, one for each image, and Parquet and MDS file by file. It refuses lmdb, folder and png-map: copy those first.

Failed requests are repeated up to 8 times. An object that changes during a run is an error.

--cache-dir DIR keeps what was downloaded for later epochs and runs, in blocks of 1 MiB; several processes may share DIR. --cache-size bounds it. 'feedrate cache DIR' shows or clears it. --shuffle-blocks makes a cache worth while already in the first epoch: neighbouring images then come from one block.

'feedrate advise URL' estimates requests, bytes and price of an epoch, and says whether to read directly, through a cache or from a copy.

A web server must answer range requests and, for a directory, list its files (as nginx does with 'autoindex on'). RecordIO and WebDataset need their .idx files, or are scanned once when they are opened; 'feedrate index' makes them.

S3: credentials, region and endpoint come from where AWS's own tools take them: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL, ~/.aws, or the role of the container or instance. Without credentials, requests are not signed. --endpoint names another server.
)",
      columns);
}

std::string processes_text(std::size_t columns) {
  return paragraphs_text(
      R"(Several processes: mpirun, srun, torchrun, Slurm arrays

Training:
  mpirun -n 4 feedrate train data/lmdb/train --network lenet --batch 256
  torchrun --no-python --nproc-per-node 4 feedrate train data/lmdb/train --network lenet

--batch is the global batch size. Each process computes the gradients of its share. The result is that of one process, except that the last images of an epoch are left out if there are fewer of them than processes; train says so at the start. With --device cuda, each process uses the GPU of its local rank and NCCL sums the gradients.

torchrun and launchers that set RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT need no MPI: the processes connect by TCP. mpirun and 'srun --mpi=pmix' need libfeedrate_mpi.so, which every build that finds MPI makes. On Debian and Ubuntu: install libopenmpi-dev and openmpi-bin (tools/install-deps.sh mpi does), then configure and build again; a copy of the program needs it beside itself or in ../lib.

Conversion:
  mpirun -n 4 feedrate convert imagenet TAR --to webdataset --shards 1024 --out data/imagenet
  sbatch --array=1-16 --wrap 'feedrate convert … --part auto'

Processes of mpirun or 'srun --mpi=pmix' take one piece of the output after another, and the first process joins the pieces. With --part auto, each task of a Slurm array, or each process of another launcher, converts its part, and the last one to finish joins them. The files are the same as those of one process. After a failure, run the same command again: finished pieces are kept. 'feedrate status PATH' shows the progress. --part I/N and --join do the same by hand.

Loading: --rank R --ranks N loads one rank's share of each batch.
)",
      columns);
}

std::string plans_text(std::size_t columns) {
  return paragraphs_text(
      R"(Plans of 'feedrate bench'

A plan is a JSON object of lists. 'feedrate bench --plan FILE' measures every combination of their values, except those that match an entry of "exclude". Unlike PATHs on the command line, the datasets may hold different images; only equal ones are compared. Keys that are left out keep the defaults of the options of the same name.
  {"datasets": ["data/lmdb/train"], "tools": ["feedrate", "pytorch"],
   "recipes": ["none"], "batches": [64, 256], "decodes": ["full"],
   "caches": ["warm", "cold"], "threads": [0, 1, 2, 4], "networks": ["lenet"],
   "devices": ["cpu"], "emulated": ["h100", "400"],
   "precisions": ["fp32"], "repeat": 3, "seconds": 2, "seed": 1,
   "exclude": [{"kind": "delivered", "threads": [0, 1], "batch": 256}],
   "only": [{"when": {"cache": "cold"}, "then": {"kind": "supply"}}]}

'feedrate bench --plan FILE --dry-run' prints the combinations. 'feedrate schema plan-files' describes every key.
)",
      columns);
}

/// "  name   meaning", below one another.
std::string topic_row(std::string_view name, std::string_view meaning, std::size_t columns) {
  return fmt::format("  {:<{}}{}\n", name, topic_columns - 2,
                     wrapped(meaning, topic_columns, columns));
}

std::string environment_text(std::size_t columns) {
  std::string text = "Environment variables\n\n";
  for (const auto& [name, meaning] : variables()) text += topic_row(name, meaning, columns);
  return text + "\n" +
         wrapped(
             "Those of S3 are in 'feedrate help servers', those of launchers in 'feedrate help "
             "processes'.",
             0, columns) +
         "\n";
}

constexpr Topic known_topics[] = {
    {"sources", "where to download each published dataset", sources_text},
    {"servers", "datasets at https:// and s3:// URLs, and the cache", servers_text},
    {"processes", "mpirun, srun, torchrun and Slurm arrays", processes_text},
    {"plans", "JSON files for 'bench --plan'", plans_text},
    {"environment", "variables such as NO_COLOR and FEEDRATE_PYTHON", environment_text}};

constexpr Variable environment[] = {
    {"NO_COLOR", "if set, messages have no colours"},
    {"COLUMNS", "the width of help"},
    {"FEEDRATE_PYTHON", "the interpreter with which bench measures other frameworks"},
    {"FEEDRATE_INSTRUCTIONS", "baseline or avx2: use no newer instructions of the CPU"},
    {"FEEDRATE_UNFUSED", "all, or names: do not fuse these layers of networks"},
    {"GOMP_SPINCOUNT", "how long threads of a CPU trainer spin before they sleep"},
    {"XDG_CACHE_HOME", "where the GPU's choices of algorithms are kept, for equal results"},
    {"http_proxy, no_proxy", "the proxy to servers"},
    {"SSL_CERT_FILE", "the certificates to trust"}};

}  // namespace

std::span<const Topic> topics() { return known_topics; }
std::span<const Variable> variables() { return environment; }

std::string topics_text(std::size_t columns) {
  std::string text = "Topics of 'feedrate help TOPIC':\n";
  for (const Topic& topic : topics()) text += topic_row(topic.name, topic.summary, columns);
  return text + "\nA command is a topic too: 'feedrate help load' is 'feedrate load --help'.\n";
}

}  // namespace feedrate::tools
