#include "trainer/communicators/tcp.h"

#include <poll.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "formats/base/error.h"
#include "trainer/communicators/messages.h"
#include "trainer/communicators/ring.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using Clock = std::chrono::steady_clock;

// The other end's hello; nothing if it disconnects, sends nothing within 10 s or sends anything
// else: then it is not one of the ranks.
std::optional<Hello> hello_of(const Descriptor& peer, Deadline deadline) {
  const Deadline soon = Clock::now() + std::chrono::seconds(10);
  try {
    if (!is_readable_before(peer, std::min(soon, deadline))) return std::nullopt;
    return receive_hello(peer);
  } catch (const Error&) {
    return std::nullopt;
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
    const std::uint16_t port = port_of(listener);
    const Address next = rank() == 0 ? gather(port, deadline) : report(port, deadline);
    next_ = reach(next, deadline);
    send_hello(next_, {rank(), ranks(), 0});
    const unsigned before = (rank() + ranks() - 1) % ranks();
    std::string from;
    for (;;) {
      previous_ = accept_before(listener, deadline, from);
      if (!previous_) throw Error(join(name(rank()), ": rank ", before, " did not connect"));
      const auto hello = hello_of(previous_, deadline);
      if (hello && hello->rank == before) break;
    }
    // A neighbour may be slow to read: whether it is lost, the connections to rank 0 show.
    allow_slow_reader(next_);
    allow_slow_reader(previous_);
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
    in_ring([&](const Ring& ring) { ring_sum(values, ring); });
  }
  void broadcast(MutableBytes bytes) override {
    finish();
    in_ring([&](const Ring& ring) { ring_broadcast(bytes, ring); });
  }

  std::uint64_t take() override { return ask(Tag::take); }
  void stop_taking() override { ask(Tag::stop); }
  void answer_others() override {}  // rank 0's watcher does
  void wait_for_all() override {
    double nothing = 0;
    sum({&nothing, 1});
  }
  void when_lost(std::function<void()> body) override {
    const std::lock_guard calls(loss_mutex_);
    on_loss_ = nullptr;
    if (body && is_one_lost()) {
      body();
    } else {
      on_loss_ = std::move(body);
    }
  }
  void expect_all_there() const override {
    const std::lock_guard lock(mutex_);
    if (lost_) throw ended_early(*lost_);
  }
  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;  // from now on, whoever leaves may
    }
    wait_for_all();
  }

 private:
  std::string name(unsigned rank) const { return join("rank ", rank, " of ", ranks()); }
  Error ended_early(unsigned rank) const {
    return Error(join(name(rank), " ended early; its own message may say why"));
  }
  bool is_one_lost() const {
    const std::lock_guard lock(mutex_);
    return lost_.has_value();
  }

  // Rank 0: waits for all others; returns where rank 1 listens.
  Address gather(std::uint16_t own_port, Deadline deadline) {
    const Descriptor listener = listen_at(meeting_.first.port);
    std::vector<Address> addresses(ranks());
    addresses[0] = {meeting_.first.host, own_port};
    peers_.resize(ranks());
    for (unsigned come = 1; come < ranks();) {
      std::string from;
      Descriptor peer = accept_before(listener, deadline, from);
      if (!peer) {
        throw Error(join(name(0), " waited in vain for rank ", list_of(peers_), " at port ",
                         meeting_.first.port, " (MASTER_PORT)"));
      }
      const auto hello = hello_of(peer, deadline);
      if (!hello) continue;  // a stranger
      if (hello->ranks != ranks() || hello->rank == 0 || hello->rank >= ranks() ||
          peers_[hello->rank]) {
        throw Error(join(name(0), ": a process at ", from, " says that it is rank ", hello->rank,
                         " of ", hello->ranks,
                         hello->ranks == ranks() ? ", which is there already" : ""));
      }
      addresses[hello->rank] = {from, hello->port};
      peers_[hello->rank] = std::move(peer);
      ++come;
    }
    for (unsigned i = 1; i < ranks(); ++i) send_next(peers_[i], addresses[(i + 1) % ranks()]);
    return addresses[1];
  }

  // Others: tells rank 0 where this one listens; returns where the next one does.
  Address report(std::uint16_t own_port, Deadline deadline) {
    try {
      peers_.push_back(connect_before(meeting_.first, deadline));
      send_hello(peers_[0], {rank(), ranks(), own_port});
      return receive_next(peers_[0]);
    } catch (const Error& error) {
      throw Error(
          join(name(rank()), " cannot join rank 0 (MASTER_ADDR, MASTER_PORT): ", error.what()));
    }
  }

  // Connects to the next rank. Any data from rank 0 here means that it has failed, since it sends
  // nothing until all have met.
  Descriptor reach(const Address& next, Deadline deadline) const {
    for (;;) {
      const Deadline soon = std::min(deadline, Clock::now() + std::chrono::seconds(1));
      try {
        return connect_before(next, soon);
      } catch (const Error& error) {
        const bool ended = rank() != 0 && is_readable_before(peers_[0], Clock::now());
        if (!ended && Clock::now() < deadline) continue;
        throw Error(join(name(rank()), " cannot reach ", name((rank() + 1) % ranks()),
                         ended ? ", and rank 0 has ended: " : ": ", error.what()));
      }
    }
  }

  Ring ring() const { return {rank(), ranks(), next_, previous_}; }

  // Returns once the ring is closed: from then on, rank 0 can tell all others who is lost.
  void meet() {
    double nothing = 0;
    try {
      ring_sum(std::span(&nothing, 1), ring());
    } catch (const Error& error) {
      throw Error(join(name(rank()), ": another ended before all had met: ", error.what()));
    }
  }

  template <class Body>
  void in_ring(const Body& body) {
    try {
      body(ring());
    } catch (const Error& error) {
      explain(error);
    }
  }

  // Says which rank is to blame, which rank 0 knows a moment later.
  [[noreturn]] void explain(const Error& error) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(5), [this] { return lost_ || ending_; });
    if (!lost_) throw Error(join(name(rank()), " cannot go on: ", error.what()));
    throw ended_early(*lost_);
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
        in_ring([&](const Ring& ring) { ring_sum(values, ring); });
      } catch (const Error&) {
        failure = std::current_exception();
      }
      lock.lock();
      if (!failure) waiting_.pop_front();
      failure_ = failure;
      changed_.notify_all();
    }
  }

  std::uint64_t ask(Tag what) {
    if (rank() == 0) return answer(what);
    send_message(peers_[0], what);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !answers_.empty() || lost_; });
    if (answers_.empty()) throw ended_early(*lost_);
    const std::uint64_t number = answers_.front();
    answers_.pop_front();
    return number;
  }

  std::uint64_t answer(Tag what) {
    const std::lock_guard lock(mutex_);
    if (what == Tag::stop) stopped_ = true;
    return stopped_ ? no_more : taken_++;
  }

  // The thread that reads the connections between rank 0 and the others.
  void watch() {
    std::vector<pollfd> open;
    for (const Descriptor& peer : peers_) open.push_back({peer.number(), POLLIN, 0});
    for (;;) {
      if (poll(open.data(), open.size(), -1) < 0) continue;
      for (std::size_t i = 0; i < open.size(); ++i) {
        if (open[i].revents == 0) continue;
        try {
          if (rank() == 0) {
            serve(peers_[i]);
          } else {
            hear();
          }
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
    const Tag what = receive_message(peer).tag;
    if (what != Tag::take && what != Tag::stop) throw Error("a rank may only take and stop");
    Buffer number;
    append_le(number, answer(what));
    send_message(peer, Tag::number, number);
  }

  void hear() {
    const Message message = receive_message(peers_[0]);
    if (message.tag == Tag::lost) {
      lose(load_le<std::uint32_t>(message.body.data()));
      return;
    }
    if (message.tag != Tag::number) throw Error("rank 0 may only send numbers and losses");
    const std::lock_guard lock(mutex_);
    answers_.push_back(load_le<std::uint64_t>(message.body.data()));
    changed_.notify_all();
  }

  // Ends everything, unless all are leaving. Rank 0 tells the others before its own threads learn of
  // it: they may end at once, and would then be the lost rank themselves.
  void lose(unsigned rank) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_ || lost_) return;
    }
    Buffer lost;
    append_le(lost, std::uint32_t{rank});
    for (std::size_t i = 1; i < peers_.size(); ++i) {
      try {
        if (i != rank) send_message(peers_[i], Tag::lost, lost);
      } catch (const Error&) {
        // That rank has ended, too.
      }
    }
    {
      const std::lock_guard lock(mutex_);
      lost_ = rank;
    }
    changed_.notify_all();
    shut(next_);
    shut(previous_);
    const std::lock_guard calls(loss_mutex_);
    if (on_loss_) on_loss_();
  }

  Meeting meeting_;
  std::vector<Descriptor> peers_;  // rank 0: of each rank, itself none; others: rank 0
  Descriptor next_;
  Descriptor previous_;
  std::mutex loss_mutex_;  // of the next; locked before mutex_
  std::function<void()> on_loss_;
  mutable std::mutex mutex_;  // of what follows
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
