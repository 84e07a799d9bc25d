#include "formats/containers/recordio_writer.h"

#include <fmt/format.h>

#include <cassert>

#include "formats/containers/record.h"
#include "formats/error.h"
#include "formats/file.h"
#include "formats/mean_format.h"

namespace feedrate {
namespace {

class RecordioWriter final : public Writer {
 public:
  RecordioWriter(const std::filesystem::path& directory, const WriterOptions& options)
      : codec_(*options.codec),
        path_(directory / recordio_data),
        records_(path_),
        index_(directory / "data.idx"),
        list_(directory / "data.lst") {}

  void add(const Sample& sample) override {
    assert(sample.codec == &codec_);
    if (sample.name.find_first_of("\t\r\n") != std::string_view::npos) {
      fail(path_, "sample ", count_,
           ": a name with a tab or a line end does not fit into data.lst");
    }
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "{}\t{}\n", count_, records_.position());
    index_.write(line_);
    framed_.clear();
    try {
      write_image_record(sample.label, count_, sample.bytes, payload_);
      append_record(payload_, framed_);
    } catch (const Error& error) {
      fail(path_, "sample ", count_, ": ", error.what());
    }
    records_.write(framed_);
    write_list_line(sample);
    ++count_;
  }

  WriterState pause() override {
    WriterState state{count_, {}};
    for (OutputFile* file : {&records_, &index_, &list_}) {
      file->flush();
      state.files.emplace_back(file->path().filename().string(), file->position());
    }
    return state;
  }

  void finish(const MeanImage* mean) override {
    records_.close();
    index_.close();
    list_.close();
    if (mean != nullptr) write_mean(path_.parent_path() / "mean.nd", *mean);
  }

 private:
  // Labels as MXNet 1.x writes them; every reader of a .lst takes a float.
  void write_list_line(const Sample& sample) {
    line_.clear();
    fmt::format_to(std::back_inserter(line_), "{}\t{}.000000\t", count_, sample.label);
    if (sample.name.empty()) {
      fmt::format_to(std::back_inserter(line_), "{:05}.{}", count_, codec_.extension());
    } else {
      line_ += sample.name;
    }
    line_ += '\n';
    list_.write(line_);
  }

  const Codec& codec_;
  std::filesystem::path path_;
  OutputFile records_, index_, list_;
  std::uint64_t count_ = 0;
  std::string line_;
  Buffer payload_, framed_;
};

}  // namespace

std::unique_ptr<Writer> make_recordio_writer(const std::filesystem::path& directory,
                                             const WriterOptions& options) {
  return std::make_unique<RecordioWriter>(directory, options);
}

}  // namespace feedrate
