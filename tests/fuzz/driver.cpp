// Runs a harness without libFuzzer: the seeds, the corpus, then mutations of both in an order that
// only --seed decides. It finds less than libFuzzer, which sees the branches taken, but runs in
// every build, within seconds.
//
//   fuzz_png [CORPUS…] [--seconds S] [--runs N] [--seed N]      S: of processor time
//
// On a failure, the input is kept in ./fuzz_<parser>.input.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "formats/base/text.h"
#include "formats/io/file.h"
#include "tests/fuzz/fuzz.h"

extern "C" [[gnu::weak]] std::size_t LLVMFuzzerCustomMutator(std::uint8_t*, std::size_t,
                                                             std::size_t, unsigned);

#if defined(__SANITIZE_ADDRESS__)
// AddressSanitizer limits allocations itself; abort_on_error lets the handler below run.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:max_allocation_size_mb=1024";
}
#endif

namespace feedrate::fuzz {
using namespace formats;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_input = 4096;  // bytes of a mutated input; corpus files may be longer
constexpr unsigned max_seconds = 20;     // of processor time for one input
constexpr std::uint64_t max_memory = std::uint64_t{1} << 30;

struct Options {
  double seconds = 1;
  std::uint64_t runs = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t seed = 1;
  std::vector<fs::path> corpora;
};

std::mt19937_64 generator;
std::vector<Buffer> corpus;

// What the signal handler needs to keep the input: plain memory, set before every run.
Bytes current;
std::array<char, 256> kept_name{};

std::size_t below(std::size_t bound) { return bound == 0 ? 0 : generator() % bound; }

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void say(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void keep_input() {
  const int file = ::open(kept_name.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  [[maybe_unused]] const auto written = ::write(file, current.data(), current.size());
  ::close(file);
  say("fuzz: the input is kept as ");
  say(kept_name.data());
  say("\n");
}

extern "C" void on_fault(int signal_number) {
  if (signal_number == SIGPROF) say("fuzz: one input takes too long\n");
  keep_input();
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

void watch(const std::string& program) {
  std::snprintf(kept_name.data(), kept_name.size(), "%s.input", program.c_str());
  struct sigaction action {};
  action.sa_handler = on_fault;
  action.sa_flags = SA_RESETHAND | SA_NODEFER;
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF}) {
#if defined(__SANITIZE_ADDRESS__)
    if (number == SIGSEGV || number == SIGBUS || number == SIGFPE)
      continue;  // the sanitizer reports where
#endif
    sigaction(number, &action, nullptr);
  }
#if !defined(__SANITIZE_ADDRESS__)
  const rlimit limit{max_memory, max_memory};
  setrlimit(RLIMIT_DATA, &limit);  // above it, std::bad_alloc ends the run
#endif
}

void run(Bytes input) {
  current = input;
  itimerval limit{};
  limit.it_value.tv_sec = max_seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
  try {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  } catch (const std::exception& error) {
    broken(join("only an Error may come out of a parser; it threw: ", error.what()));
  }
}

using Mutation = std::size_t (*)(std::byte* data, std::size_t size, std::size_t most);

std::size_t flip_a_bit(std::byte* data, std::size_t size, std::size_t) {
  if (size != 0) data[below(size)] ^= static_cast<std::byte>(1U << below(8));
  return size;
}

std::size_t set_a_byte(std::byte* data, std::size_t size, std::size_t) {
  if (size != 0) data[below(size)] = static_cast<std::byte>(below(256));
  return size;
}

// Writes a boundary value of any width, in either byte order.
std::size_t set_a_number(std::byte* data, std::size_t size, std::size_t) {
  const std::size_t width = std::min(std::size_t{1} << below(4), size);
  if (width == 0) return size;
  std::uint64_t number = ~std::uint64_t{0} << below(65) % 64;
  number = below(2) == 0 ? ~number : number;
  number += below(3) - 1;
  std::byte* at = data + below(size - width + 1);
  std::memcpy(at, &number, width);
  if (below(2) == 0) std::reverse(at, at + width);
  return size;
}

std::size_t erase_some(std::byte* data, std::size_t size, std::size_t) {
  if (size == 0) return size;
  const std::size_t at = below(size);
  const std::size_t count = 1 + below(std::min<std::size_t>(size - at, 64));
  std::memmove(data + at, data + at + count, size - at - count);
  return size - count;
}

std::size_t insert(std::byte* data, std::size_t size, std::size_t most, Bytes piece) {
  const std::size_t count = std::min(piece.size(), most - size);
  const std::size_t at = below(size + 1);
  std::memmove(data + at + count, data + at, size - at);
  std::memcpy(data + at, piece.data(), count);
  return size + count;
}

std::size_t insert_some(std::byte* data, std::size_t size, std::size_t most) {
  const Buffer piece(1 + below(16), static_cast<std::byte>(generator()));
  return insert(data, size, most, piece);
}

std::size_t insert_from_the_corpus(std::byte* data, std::size_t size, std::size_t most) {
  const Buffer& other = corpus[below(corpus.size())];
  if (other.empty()) return size;
  const std::size_t at = below(other.size());
  const Buffer piece = buffer(Bytes(other).subspan(at, 1 + below(other.size() - at)));
  return insert(data, size, most, piece);
}

std::size_t copy_within(std::byte* data, std::size_t size, std::size_t) {
  if (size == 0) return size;
  const std::size_t count = 1 + below(std::min<std::size_t>(size, 32));
  std::memmove(data + below(size - count + 1), data + below(size - count + 1), count);
  return size;
}

constexpr Mutation mutations[] = {flip_a_bit,  set_a_byte,  set_a_number,           erase_some,
                                  insert_some, copy_within, insert_from_the_corpus, set_a_byte};

void mutate_and_run(Buffer& input) {
  input = corpus[below(corpus.size())];
  const std::size_t most = std::max(input.size(), max_input);
  std::size_t size = input.size();
  input.resize(most);
  auto* data = reinterpret_cast<std::uint8_t*>(input.data());
  size = LLVMFuzzerCustomMutator != nullptr
             ? LLVMFuzzerCustomMutator(data, size, most, static_cast<unsigned>(generator()))
             : LLVMFuzzerMutate(data, size, most);
  run(Bytes(input).first(size));
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with("--")) {
      options.corpora.emplace_back(word);
      continue;
    }
    const auto value = i + 1 < count ? parse_number<std::uint64_t>(words[++i]) : std::nullopt;
    if (!value) throw Error(join(word, " wants a number"));
    if (word == "--seconds") {
      options.seconds = static_cast<double>(*value);
    } else if (word == "--runs") {
      options.runs = *value;
    } else if (word == "--seed") {
      options.seed = *value;
    } else {
      throw Error(join("no option ", word, "; there are --seconds, --runs, --seed"));
    }
  }
  return options;
}

// The seeds must be accepted, or the harness would never get into its parser.
void run_seeds() {
  corpus = seeds();
  if (corpus.empty()) throw Error("the harness has no seeds");
  for (std::size_t i = 0; i < corpus.size(); ++i) {
    const std::uint64_t before = acceptances;
    run(corpus[i]);
    if (acceptances == before) throw Error(join("seed ", i, " is refused; it should be sound"));
  }
}

void run_corpus(const std::vector<fs::path>& directories) {
  std::vector<fs::path> files;
  for (const fs::path& directory : directories) {
    for (const auto& entry : fs::directory_iterator(directory)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    Buffer content;
    read_file(file, content);
    run(content);
    corpus.push_back(std::move(content));
  }
}

int drive(const Options& options) {
  generator.seed(options.seed);
  run_seeds();
  run_corpus(options.corpora);
  std::uint64_t runs = 0;
  Buffer input;
  while (runs < options.runs && processor_seconds() < options.seconds) {
    mutate_and_run(input);
    ++runs;
  }
  std::printf("%zu inputs of the corpus, %llu mutations, %.1f s, no fault\n", corpus.size(),
              static_cast<unsigned long long>(runs), processor_seconds());
  return 0;
}

}  // namespace

void complained(std::string_view) {}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  using namespace feedrate::fuzz;
  for (std::size_t i = 0; i <= below(4); ++i) {
    const Mutation mutation = mutations[below(std::size(mutations))];
    size = mutation(reinterpret_cast<std::byte*>(data), size, most);
  }
  return size;
}

int main(int count, char** words) {
  const std::string program = std::filesystem::path(words[0]).filename().string();
  try {
    feedrate::fuzz::watch(program);
    return feedrate::fuzz::drive(feedrate::fuzz::parse(count, words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.what());
    return 2;
  }
}
