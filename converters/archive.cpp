#include "converters/archive.h"

#include <archive_entry.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "converters/zip_directory.h"
#include "formats/base/error.h"
#include "formats/io/archive_handle.h"

namespace feedrate::converters {
using namespace formats;

namespace {

// A file may be compressed twice (a .gz that a server compressed again). The limit guards against a
// file that decompresses to itself.
constexpr int max_compressions = 2;

constexpr std::size_t entry_block = std::size_t{64} << 10;

// The current entry of an outer archive, as a stream.
class EntryStream final : public ByteStream {
 public:
  explicit EntryStream(Archive& outer) : outer_(outer), buffer_(entry_block) {}
  std::uint64_t size() const override { return outer_.size(); }

 private:
  Bytes fetch() override { return Bytes(buffer_).first(outer_.read(buffer_)); }

  Archive& outer_;
  Buffer buffer_;
};

// The same for an entry that lies in mapped memory.
class ViewStream final : public ByteStream {
 public:
  ViewStream(Bytes view, ByteStream& outer) : outer_(outer), view_(view), rest_(view) {}
  std::uint64_t size() const override { return view_.size(); }
  std::optional<Bytes> whole() const override { return view_; }
  void passed(const std::byte* end) override { outer_.passed(end); }
  void give_back(Bytes part) override { outer_.give_back(part); }

 private:
  Bytes fetch() override { return std::exchange(rest_, Bytes()); }

  ByteStream& outer_;
  Bytes view_;
  Bytes rest_;
};

}  // namespace

bool looks_like_html(Bytes start) {
  std::string text(as_text(start.first(std::min<std::size_t>(start.size(), 512))));
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string::npos) return false;
  const auto page = std::string_view(text).substr(first);
  return page.starts_with("<!doctype html") || page.starts_with("<html") ||
         page.starts_with("<head");
}

struct Archive::State {
  State(std::unique_ptr<ByteStream> source, std::string where, std::string own_name)
      : container(std::move(where)), name(std::move(own_name)) {
    unwrap(std::move(source));
    handle = std::make_unique<ArchiveHandle>(*stream, ArchiveHandle::Reads::archives);
    found_first = handle->next_header();  // the format is known only now
    if (handle->failed()) fail_here("cannot be read");
    single = handle->single();
    if (const auto whole = stream->whole(); whole && handle->is_zip()) {
      directory.emplace(*whole, container);
    }
  }

  void unwrap(std::unique_ptr<ByteStream> source) {
    if (source->peek().empty()) fail(container, "is empty");
    stream = std::move(source);
    for (int layer = 0; layer < max_compressions; ++layer) {
      auto [inner, suffix] = decompress(std::move(stream), container);
      stream = std::move(inner);
      if (suffix.empty()) break;
      compressed = true;
      if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
      if (stream->peek().empty()) fail(container, "is empty once decompressed");
    }
    if (looks_like_html(stream->peek())) {
      fail(container, "looks like an HTML page; was the download redirected?");
    }
  }

  bool next() {
    const bool found = first ? found_first : handle->next_header();
    first = false;
    if (handle->failed()) fail_here("after this entry");
    tell_progress();
    position = 0;
    view.reset();
    if (found) {
      if (directory) directory->check_next();
      take_entry();
      return true;
    }
    if (directory) directory->check_end();
    if (!handle->end_is_marked()) {
      fail(container, "the tar stops without an end marker, after ",
           name.empty() ? "no entry" : "the entry " + name, "; is the download complete?");
    }
    // The checksum of the compressed data follows the marker: read on to have it checked.
    while (compressed && !stream->next().empty()) {
    }
    return false;
  }

  void take_entry() {
    archive_entry* entry = handle->entry();
    regular = archive_entry_filetype(entry) == AE_IFREG;
    size = archive_entry_size_is_set(entry) != 0
               ? static_cast<std::uint64_t>(std::max<std::int64_t>(archive_entry_size(entry), 0))
               : 0;
    if (single) {
      size = compressed ? 0 : stream->size();
      return;
    }
    std::string found = handle->name();
    if (regular && found.empty()) {
      fail(container, "holds a file whose name cannot be read, after ",
           name.empty() ? "no entry" : "the entry " + name);
    }
    name = std::move(found);
    if (archive_entry_filetype(entry) == AE_IFDIR) {
      directories.push_back(name);
    } else if (!regular) {
      irregular = place();
    }
    const char* target = archive_entry_hardlink(entry);
    if (regular && target != nullptr && size == 0) {
      fail(place(), "is a hard link to ", target, ", which a stream cannot follow");
    }
  }

  // Tells the stream what libarchive has consumed, so that it can release that memory.
  void tell_progress() {
    if (const auto whole = stream->whole()) stream->passed(whole->data() + handle->consumed());
  }

  std::optional<Bytes> find_view() {
    if (view) return view;
    const std::optional<Bytes> whole = stream->whole();
    if (!whole || position != 0 || !(single || handle->contiguous())) return std::nullopt;
    view = single ? *whole : size == 0 ? whole->first(0) : whole_block();
    return view;
  }

  std::size_t copy_view(MutableBytes into) {
    const Bytes rest = view->subspan(position);
    const std::size_t copied = std::min(rest.size(), into.size());
    std::ranges::copy(rest.first(copied), into.begin());
    position += copied;
    stream->passed(rest.data() + copied);
    return copied;
  }

  // libarchive's block of an entry is a view of the stream's one block. It is shorter than the
  // entry only if the stream ends early.
  Bytes whole_block() {
    const std::optional<Bytes> block = handle->next_block();
    if (!block) fail_here(join("at byte 0 of ", size));
    if (block->size() == size) return *block;
    if (!handle->next_block()) fail_here(join("at byte ", block->size(), " of ", size));
    fail(place(), "expected one block of ", size, " bytes, found several, the first of ",
         block->size());
  }

  std::string place() const { return single ? container : container + ":" + name; }

  [[noreturn]] void fail_here(const std::string& what) {
    if (single || name.empty()) handle->fail(container, what);
    try {
      handle->fail(place(), what);
    } catch (const Error& error) {
      // Errors of the compressed stream name only the file; add the entry.
      const std::string_view message = error.what();
      if (message.starts_with(place())) throw;
      throw Error(join(message, " (in the entry ", name, ", byte ", position, ")"));
    }
  }

  std::string container;  // where this archive is: a file, or an entry of an outer archive
  std::string name;
  std::unique_ptr<ByteStream> stream;
  std::unique_ptr<ArchiveHandle> handle;
  std::optional<ZipDirectory> directory;  // of a zip that lies in memory whole
  bool compressed = false;
  bool single = false;
  bool first = true;  // next() has not been called; the constructor read the first header
  bool found_first = false;
  bool regular = false;
  std::string irregular;
  std::vector<std::string> directories;
  std::uint64_t size = 0;
  std::uint64_t position = 0;
  std::optional<Bytes> view;  // set once asked for; read() then copies from it
};

Archive::Archive(const std::filesystem::path& path)
    : state_(std::make_unique<State>(open_any_stream(path), path.string(),
                                     path.filename().string())) {}

Archive::Archive(Archive& outer)
    : state_(std::make_unique<State>(entry_stream(outer), outer.place(),
                                     std::filesystem::path(outer.name()).filename().string())) {}

std::unique_ptr<ByteStream> Archive::entry_stream(Archive& outer) {
  const std::optional<Bytes> view = outer.view();
  if (!view) return std::make_unique<EntryStream>(outer);
  return std::make_unique<ViewStream>(*view, *outer.state_->stream);
}

Archive::~Archive() = default;

bool Archive::next() {
  while (state_->next()) {
    if (state_->regular) return true;
  }
  return false;
}

bool Archive::single() const { return state_->single; }
const std::string& Archive::irregular() const { return state_->irregular; }
const std::string& Archive::name() const { return state_->name; }
std::string Archive::place() const { return state_->place(); }
std::vector<std::string> Archive::take_directories() {
  return std::exchange(state_->directories, {});
}
std::uint64_t Archive::size() const { return state_->size; }
std::optional<Bytes> Archive::view() { return state_->find_view(); }
void Archive::give_back(Bytes view) { state_->stream->give_back(view); }
void Archive::give_back() { give_back(state_->stream->whole().value_or(Bytes())); }

std::size_t Archive::read(MutableBytes into) {
  if (into.empty()) return 0;
  if (state_->view) return state_->copy_view(into);
  const std::optional<std::size_t> count = state_->handle->read(into);
  if (!count) state_->fail_here(join("at byte ", state_->position, " of ", state_->size));
  state_->position += *count;
  state_->tell_progress();
  return *count;
}

void Archive::read_all(Buffer& into, std::uint64_t limit) {
  // One byte more than expected, so that one read sees both the content and its end. The stated
  // size is only a claim: beyond the first megabyte, memory grows with what really arrives.
  constexpr std::uint64_t first_guess = 1 << 20;
  limit = std::min(limit, std::uint64_t{1} << 40);
  const std::uint64_t expected = size() != 0 ? size() : first_guess;
  into.resize(std::min({expected, first_guess, limit}) + 1);
  std::size_t filled = 0;
  for (;;) {
    filled += read(MutableBytes(into).subspan(filled));
    if (filled < into.size()) break;
    if (filled > limit) fail(place(), "holds more than the ", limit, " bytes expected");
    into.resize(std::min<std::uint64_t>(limit + 1, into.size() * 2));
  }
  // Holes at the end of a sparse file, for example, are not delivered.
  if (state_->position < size()) {
    fail(place(), "expected ", size(), " bytes, found ", state_->position);
  }
  into.resize(filled);
}

}  // namespace feedrate::converters
