// feedrate.json.

#include "formats/io/file.h"
#include "formats/sidecar.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

std::string written(const Sidecar& sidecar) {
  write_sidecar(directory(), sidecar);
  return read_text(directory() / sidecar_name);
}

}  // namespace

std::vector<Buffer> seeds() {
  Sidecar sidecar;
  sidecar.source = "mnist";
  sidecar.count = 3;
  sidecar.shape = {28, 28, 1};
  sidecar.classes = 2;
  sidecar.class_names = {{"a", "\xff"}, {"first", "second"}};
  sidecar.class_counts = {1, 2};
  sidecar.inputs = {{"train.gz", 12, "00ff"}};
  sidecar.options = {"--encode raw"};
  return {buffer(written(sidecar)), buffer("{}"), buffer(R"({"inputs":[{}],"shape":{"width":1}})")};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  file_of(fenced(data, size), sidecar_name);
  std::optional<Sidecar> sidecar;
  if (!accepts([&] { sidecar = read_sidecar(directory()); })) return 0;
  require(sidecar.has_value(), "a sidecar that is there is read or refused");
  const std::string once = written(*sidecar);
  require(written(read_sidecar(directory()).value()) == once, "a sidecar reads as it was written");
  return 0;
}
