#include "trainer/communicators/tcp.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "formats/base/error.h"
#include "trainer/communicators/ring.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t greeting = 0x3165746172646565;  // "eedrate1"

struct Hello {
  std::uint64_t greeting = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint16_t port = 0;  // where it waits for the one before it
};

struct Neighbour {
  std::array<char, 256> host{};
  std::uint16_t port = 0;
};

template <class T>
Bytes bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

template <class T>
T receive(const Descriptor& from) {
  T value;
  receive_all(from, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

// Nothing of one who leaves, or stays, without a word: a rank says hello at once.
Hello hello_of(const Descriptor& peer, Deadline deadline) {
  const Deadline soon = Clock::now() + std::chrono::seconds(10);
  try {
    if (!speaks_before(peer, std::min(soon, deadline))) return {};
    return receive<Hello>(peer);
  } catch (const Error&) {
    return {};
  }
}

std::string list_of(const std::vector<Descriptor>& peers) {
  std::string missing;
  for (std::size_t i = 1; i < peers.size(); ++i) {
    if (!peers[i]) missing += join(missing.empty() ? "" : ", ", i);
  }
  return missing;
}

class Tcp final : public Communicator {
 public:
  explicit Tcp(const Meeting& meeting) : meeting_(meeting) {
    const Deadline deadline = Clock::now() + meeting.patience;
    const Descriptor listener = listen_at(0);
    const Neighbour neighbour =
        rank() == 0 ? gather(port_of(listener), deadline) : report(port_of(listener), deadline);
    next_ = reach(neighbour, deadline);
    send_all(next_, bytes_of(Hello{greeting, rank(), ranks(), 0}));
    const unsigned before = (rank() + ranks() - 1) % ranks();
    std::string from;
    for (;;) {
      previous_ = accept_before(listener, deadline, from);
      if (!previous_) throw Error(join(name(rank()), ": rank ", before, " did not connect"));
      const Hello hello = hello_of(previous_, deadline);
      if (hello.greeting == greeting && hello.rank == before) break;
    }
    // A slow neighbour is not a lost one: of those, the connections to rank 0 tell.
    bear_delay(next_);
    bear_delay(previous_);
    meet();
    watcher_ = std::thread([this] { watch(); });
    summer_ = std::thread([this] { add_up(); });
  }

  ~Tcp() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = ending_ = true;
    }
    changed_.notify_all();
    for (const Descriptor& peer : peers_) shut(peer);
    shut(next_);
    shut(previous_);
    if (summer_.joinable()) summer_.join();
    if (watcher_.joinable()) watcher_.join();
  }

  unsigned rank() const override { return meeting_.rank; }
  unsigned ranks() const override { return meeting_.ranks; }

  void begin_sum(std::span<float> values) override {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(values);
    changed_.notify_all();
  }
  void progress() override {}  // a thread of its own sums
  void finish() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() || failure_; });
    if (failure_) std::rethrow_exception(failure_);
  }
  void sum(std::span<double> values) override {
    finish();
    sum_in_ring(values);
  }

  // Rank 0's watcher counts.
  std::uint64_t take() override { return ask(Ask::take); }
  void stop_taking() override { ask(Ask::stop); }
  void answer_others() override {}
  void wait_for_all() override {
    double nothing = 0;
    sum({&nothing, 1});
  }
  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;  // from now on, whoever leaves may
    }
    wait_for_all();
  }

 private:
  enum class Ask : std::uint8_t { take, stop };

  std::string name(unsigned rank) const { return join("rank ", rank, " of ", ranks()); }

  // First rank: waits for all others; returns where the second one listens.
  Neighbour gather(std::uint16_t own_port, Deadline deadline) {
    const Descriptor door = listen_at(meeting_.first.port);
    std::vector<Neighbour> places(ranks());
    peers_.resize(ranks());
    for (unsigned come = 1; come < ranks();) {
      std::string from;
      Descriptor peer = accept_before(door, deadline, from);
      if (!peer) {
        throw Error(join(name(0), " waited in vain for rank ", list_of(peers_), " at port ",
                         meeting_.first.port, " (MASTER_PORT)"));
      }
      const auto hello = hello_of(peer, deadline);
      if (hello.greeting != greeting) continue;  // a stranger
      if (hello.ranks != ranks() || hello.rank == 0 || hello.rank >= ranks() ||
          peers_[hello.rank]) {
        throw Error(join(name(0), ": a process at ", from, " says that it is rank ", hello.rank,
                         " of ", hello.ranks,
                         hello.ranks == ranks() ? ", which is there already" : ""));
      }
      from.copy(places[hello.rank].host.data(), places[hello.rank].host.size() - 1);
      places[hello.rank].port = hello.port;
      peers_[hello.rank] = std::move(peer);
      ++come;
    }
    meeting_.first.host.copy(places[0].host.data(), places[0].host.size() - 1);
    places[0].port = own_port;
    for (unsigned i = 1; i < ranks(); ++i) send_all(peers_[i], bytes_of(places[(i + 1) % ranks()]));
    return places[1];
  }

  // Others: tells rank 0 where it listens; returns where the next one does.
  Neighbour report(std::uint16_t own_port, Deadline deadline) {
    try {
      peers_.push_back(connect_before(meeting_.first, deadline));
      send_all(peers_[0], bytes_of(Hello{greeting, rank(), ranks(), own_port}));
      return receive<Neighbour>(peers_[0]);
    } catch (const Error& error) {
      throw Error(
          join(name(rank()), " cannot join rank 0 (MASTER_ADDR, MASTER_PORT): ", error.what()));
    }
  }

  // Connects to the next rank. Rank 0 says nothing until all have met: what comes from it is its end.
  Descriptor reach(const Neighbour& neighbour, Deadline deadline) const {
    for (;;) {
      const Deadline soon = std::min(deadline, Clock::now() + std::chrono::seconds(1));
      try {
        return connect_before({neighbour.host.data(), neighbour.port}, soon);
      } catch (const Error& error) {
        const bool ended = rank() != 0 && speaks_before(peers_[0], Clock::now());
        if (!ended && Clock::now() < deadline) continue;
        throw Error(join(name(rank()), " cannot reach ", name((rank() + 1) % ranks()),
                         ended ? ", and rank 0 has ended: " : ": ", error.what()));
      }
    }
  }

  // Returns once the ring is closed: from then on, rank 0 can tell all who is lost.
  void meet() {
    double nothing = 0;
    try {
      ring_sum(std::span(&nothing, 1), {rank(), ranks(), next_, previous_});
    } catch (const Error& error) {
      throw Error(join(name(rank()), ": another ended before all had met: ", error.what()));
    }
  }

  template <class T>
  void sum_in_ring(std::span<T> values) {
    try {
      ring_sum(values, {rank(), ranks(), next_, previous_});
    } catch (const Error& error) {
      explain(error);
    }
  }

  // Says which rank is to blame, which rank 0 knows a moment later.
  [[noreturn]] void explain(const Error& error) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(5), [this] { return lost_ || ending_; });
    if (!lost_) throw Error(join(name(rank()), " cannot go on: ", error.what()));
    throw Error(join(name(*lost_), " ended early; its own message may say why"));
  }

  // The thread that sums what begin_sum() got.
  void add_up() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || (!waiting_.empty() && !failure_); });
      if (waiting_.empty() || failure_) return;
      const std::span<float> values = waiting_.front();
      lock.unlock();
      std::exception_ptr failure;
      try {
        sum_in_ring(values);
      } catch (const Error&) {
        failure = std::current_exception();
      }
      lock.lock();
      if (!failure) waiting_.pop_front();
      failure_ = failure;
      changed_.notify_all();
    }
  }

  std::uint64_t ask(Ask what) {
    if (rank() == 0) return answer(what);
    send_all(peers_[0], bytes_of(what));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !answers_.empty() || lost_; });
    if (answers_.empty()) throw Error(join(name(*lost_), " ended early"));
    const std::uint64_t number = answers_.front();
    answers_.pop_front();
    return number;
  }

  std::uint64_t answer(Ask what) {
    const std::lock_guard lock(mutex_);
    if (what == Ask::stop) stopped_ = true;
    return stopped_ ? no_more : taken_++;
  }

  // The thread that reads the connections between rank 0 and the others. To a rank come numbers:
  // what it took, or below no_more the rank that is lost.
  void watch() {
    std::vector<pollfd> open;
    for (const Descriptor& peer : peers_) open.push_back({peer.number(), POLLIN, 0});
    for (;;) {
      if (poll(open.data(), open.size(), -1) < 0) continue;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (open[i].revents == 0) continue;
        try {
          rank() == 0 ? serve(peers_[i]) : hear();
        } catch (const Error&) {
          lose(static_cast<unsigned>(i));
          open[i].fd = -1;
        }
      }
      const std::lock_guard lock(mutex_);
      if (lost_ || (closing_ && std::ranges::all_of(open, [](auto& one) { return one.fd < 0; })))
        return;
    }
  }

  void serve(const Descriptor& peer) {
    const std::uint64_t number = answer(receive<Ask>(peer));
    send_all(peer, bytes_of(number));
  }

  void hear() {
    const auto number = receive<std::uint64_t>(peers_[0]);
    if (number != no_more && number >= lost_from) {
      lose(static_cast<unsigned>(number - lost_from));
      return;
    }
    const std::lock_guard lock(mutex_);
    answers_.push_back(number);
    changed_.notify_all();
  }

  // Ends everything, unless all are leaving.
  void lose(unsigned rank) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_ || lost_) return;
      lost_ = rank;
    }
    changed_.notify_all();
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      try {
        if (i != rank) send_all(peers_[i], bytes_of(lost_from + rank));
      } catch (const Error&) {
        // It ended, too.
      }
    }
    shut(next_);
    shut(previous_);
  }

  static constexpr std::uint64_t lost_from = std::uint64_t{1}
                                             << 48;  // no conversion has as many pieces

  Meeting meeting_;
  std::vector<Descriptor> peers_;  // rank 0: of each rank, itself none; others: rank 0
  Descriptor next_;
  Descriptor previous_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::span<float>> waiting_;  // sums begun
  std::exception_ptr failure_;
  std::deque<std::uint64_t> answers_;
  std::optional<unsigned> lost_;
  std::uint64_t taken_ = 0;
  bool stopped_ = false;
  bool closing_ = false;  // close() was called: others may leave
  bool ending_ = false;   // the destructor was
  std::thread watcher_;
  std::thread summer_;
};

}  // namespace

std::unique_ptr<Communicator> join_tcp(const Meeting& meeting) {
  return std::make_unique<Tcp>(meeting);
}

}  // namespace feedrate::trainer
