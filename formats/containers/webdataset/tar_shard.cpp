#include "formats/containers/webdataset/tar_shard.h"

#include <algorithm>

#include "formats/base/clutter.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/io/byte_stream.h"
#include "formats/io/tar_format.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// The next file of an index line that belongs to a sample; nothing at the end of the line.
std::optional<IndexedFile> take_sample_file(std::string_view& line, bool named) {
  while (!line.empty()) {
    const IndexedFile file = take_indexed_file(line, named);
    if (!named || (split_sample_name(file.name) && !is_tar_metadata(file.name))) return file;
  }
  return std::nullopt;
}

bool fits(const IndexedFile& file, const TarEntry& entry) {
  return file.offset == entry.offset && file.size == entry.size &&
         (file.name.empty() || file.name == entry.name);
}

// The header or the end marker at `at`. A walk that starts there holds them, or a server would send much more.
Bytes first_blocks(Bytes tar, std::uint64_t at) {
  const Bytes rest = tar.subspan(std::min<std::uint64_t>(at, tar.size()));
  return rest.first(std::min<std::size_t>(rest.size(), 2 * tar_block));
}

}  // namespace

TarShard::TarShard(const fs::path& path, MemoryBudget& memory) : path_(path) {
  unpack(memory);
  try {
    const SinglePages headers(file_.map());
    if (unpacked_.empty()) use_index();
    if (index_.starts.empty()) walk();
  } catch (const Error& error) {
    fail(path_, error.what());
  }
}

void TarShard::unpack(MemoryBudget& memory) {
  const Decompressed source = decompress(open_file_stream(path_), shown_path(path_));
  if (source.suffix.empty()) {
    file_ = MappedFile(path_);
    tar_ = file_.map();
    return;
  }
  for (Bytes block = source.stream->next(); !block.empty(); block = source.stream->next()) {
    if (!memory.take(block.size())) {
      fail(path_, "is compressed, and unpacking it exceeds the limit of ", memory.total() >> 20,
           " MiB of memory for the compressed shards of a dataset; unpack them first");
    }
    append(unpacked_, block);
  }
  tar_ = unpacked_;
}

// An index that does not fit is no reason to refuse an intact tar; audit() reports it.
void TarShard::use_index() {
  const fs::path path = wds_index_path(path_);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  try {
    index_file_ = MappedFile(path);
    WdsIndex index = parse_wds_index(as_text(index_file_.bytes()), tar_);
    const Bytes end = first_blocks(tar_, index.starts.back());
    const Held held = hold(end);
    TarWalk rest(tar_, index.starts.back(), end);
    SampleMember member;
    if (next_member(rest, member)) throw Error(join("does not name ", member.entry.name));
    index_ = std::move(index);
  } catch (const Error& error) {
    index_file_ = MappedFile();
    index_fault_ = error.what();
  }
}

void TarShard::walk() {
  index_.starts = Offsets(tar_.size());
  TarWalk walk(tar_);
  SampleMember member;
  std::string key;
  while (next_member(walk, member, &clutter_)) {
    if (!index_.starts.empty() && member.key == key) continue;
    key = member.key;
    index_.starts.push_back(member.entry.header);
  }
  index_.starts.push_back(walk.position());
  refuse_second_tar(walk.position());
}

// Half of the samples of `cat a.tar b.tar` would be lost without a word. Other bytes behind the end, which
// audit_rest() reports, hold no samples.
void TarShard::refuse_second_tar(std::uint64_t end) const {
  const Bytes rest = tar_.subspan(end);
  const auto data =
      std::find_if(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; });
  const auto zeros = static_cast<std::uint64_t>(data - rest.begin());
  const std::uint64_t at = end + zeros / tar_block * tar_block;
  try {
    TarEntry entry;
    if (zeros == rest.size() || !TarWalk(tar_, at).next(entry)) return;
  } catch (const Error&) {
    return;
  }
  throw Error(join("byte ", at,
                   ": another tar begins behind the end marker, where tools stop reading; "
                   "give each tar a file of its own, as train-000000.tar and train-000001.tar"));
}

// From the sample's first header to the next sample's.
Bytes TarShard::stored(std::uint64_t sample) const {
  const std::uint64_t start = index_.starts[sample];
  const std::uint64_t end = index_.starts[sample + 1];
  return start < end && end <= tar_.size() ? tar_.subspan(start, end - start) : Bytes();
}

bool TarShard::look_ahead(std::uint64_t sample) const {
  if (!unpacked_.empty()) return false;
  file_.look_ahead(stored(sample));
  return true;
}

void TarShard::prefetch_place(std::uint64_t sample) const {
  index_.starts.prefetch(sample);
  if (!index_.lines.empty()) index_.lines.prefetch(sample);
}

void TarShard::prefetch_sample(std::uint64_t sample) const {
  prefetch_start(tar_, index_.starts[sample]);
  if (!index_.lines.empty()) prefetch_start(index_file_.bytes(), index_.lines[sample]);
}

void TarShard::read(std::uint64_t sample, TarSample& files, Held& held) const {
  held = hold(stored(sample));
  const std::uint64_t end = index_.starts[sample + 1];
  const bool indexed = !index_.lines.empty();
  std::string_view line;
  if (indexed) {
    std::string_view text = as_text(index_file_.bytes()).substr(index_.lines[sample]);
    line = take_line(text);
  }
  TarWalk walk(tar_, index_.starts[sample], stored(sample));
  SampleMember member;
  bool agree = true;
  while (agree && walk.position() < end && next_member(walk, member) && member.entry.header < end) {
    agree = files.key.empty() || files.key == member.key;
    if (indexed && agree) {
      const std::optional<IndexedFile> expected = take_sample_file(line, index_.named);
      agree = expected && fits(*expected, member.entry);
    }
    if (agree) files.take(member);
  }
  agree = agree && !take_sample_file(line, index_.named);
  if (indexed && !index_.named && agree) agree = !goes_on(files.key, end);
  if (!agree) {
    throw Error(join(wds_index_path(path_).filename(),
                     " does not agree about this sample with the ",
                     "headers of the tar; remove it, the tar is enough"));
  }
}

// True when the member at `at` has that key: lines without names may end within a sample.
bool TarShard::goes_on(std::string_view key, std::uint64_t at) const {
  SampleMember member;
  try {
    const Bytes next = first_blocks(tar_, at);
    const Held held = hold(next);
    TarWalk walk(tar_, at, next);
    return next_member(walk, member) && member.key == key;
  } catch (const Error&) {
    return false;  // reported with the next sample
  }
}

void TarShard::audit(const std::function<void(Finding)>& found,
                     const std::function<void(std::string_view key)>& on_sample) const {
  if (!index_fault_.empty()) {
    found({shown_path(wds_index_path(path_)), join("is not used: ", index_fault_)});
  }
  std::uint64_t samples = 0;
  std::uint64_t passed_over = 0;
  std::string key, first_passed_over;
  TarWalk walk(tar_);
  for (TarEntry entry; walk.next(entry);) {
    if (entry.type == '5' || is_tar_metadata(entry.name) || is_clutter(entry.name)) continue;
    const auto name = entry.is_file() ? split_sample_name(entry.name) : std::nullopt;
    if (!name) {
      if (passed_over++ == 0) first_passed_over = entry.name;
    } else if (samples == 0 || name->key != key) {
      key = name->key;
      on_sample(key);
      ++samples;
    }
  }
  if (passed_over != 0) {
    found({path_.string(),
           join(counted_as(passed_over, "member belongs to no sample: it is a link or lacks",
                           "members belong to no sample: they are links or lack"),
                " an extension; the first is ", first_passed_over)});
  }
  if (samples != size()) {
    found({shown_path(wds_index_path(path_)),
           join("names ", size(), " samples, the tar has ", samples)});
  }
  audit_rest(walk.position(), found);
}

void TarShard::audit_rest(std::uint64_t end, const std::function<void(Finding)>& found) const {
  const Bytes rest = tar_.subspan(end);
  const auto at =
      std::find_if(rest.begin(), rest.end(), [](std::byte b) { return b != std::byte{0}; });
  if (at == rest.end()) return;
  found({join(path_, ": byte ", end + static_cast<std::uint64_t>(at - rest.begin())),
         "data follows the end of the archive; were tars concatenated? Tools stop reading there"});
}

}  // namespace feedrate::formats
