#include "trainer/communicators/tcp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/support/free_port.h"
#include "trainer/communicators/messages.h"

namespace feedrate::trainer {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using testing::expect_error;
using testing::free_port;

// Runs `work(communicator)` on every rank, each in a thread; returns what each that failed says.
std::vector<std::string> on_all(unsigned ranks, const std::function<void(Communicator&)>& work) {
  const std::uint16_t port = free_port();
  std::vector<std::future<std::string>> running;
  for (unsigned rank = 0; rank < ranks; ++rank) {
    running.push_back(std::async(std::launch::async, [=, &work]() -> std::string {
      try {
        work(*join_tcp({rank, ranks, {"127.0.0.1", port}, 20s}));
      } catch (const std::exception& error) {
        return error.what();
      }
      return "";
    }));
  }
  std::vector<std::string> said;
  for (std::future<std::string>& one : running) said.push_back(one.get());
  return said;
}

const std::vector<std::string> nobody(unsigned ranks) { return std::vector<std::string>(ranks); }

class UnitTcp : public ::testing::TestWithParam<unsigned> {};

TEST_P(UnitTcp, sums_are_the_same_on_every_rank_at_any_length) {
  const unsigned ranks = GetParam();
  const auto value = [](unsigned rank, std::size_t i) {
    return std::sin(static_cast<float>(i * 7 + rank));
  };
  std::mutex mutex;
  std::set<std::vector<float>> results;
  const auto said = on_all(ranks, [&](Communicator& world) {
    EXPECT_EQ(world.ranks(), ranks);
    // The longest does not fit into the buffers of a connection.
    std::vector<std::vector<float>> lists;
    for (const std::size_t size : {0, 1, 3, 1000, 3'000'001}) {
      std::vector<float>& list = lists.emplace_back(size);
      for (std::size_t i = 0; i < size; ++i) list[i] = value(world.rank(), i);
    }
    for (std::vector<float>& list : lists) {
      world.begin_sum(list);
      world.progress();
    }
    world.finish();
    for (const std::vector<float>& list : lists) {
      for (std::size_t i = 0; i < list.size(); i += 997) {
        double sum = 0;
        for (unsigned rank = 0; rank < ranks; ++rank) sum += static_cast<double>(value(rank, i));
        ASSERT_NEAR(static_cast<double>(list[i]), sum, 1e-6 * ranks);
      }
    }
    {
      const std::lock_guard lock(mutex);
      results.insert(lists.back());
    }
    std::vector<double> counts = {1, static_cast<double>(world.rank())};
    world.sum(counts);
    EXPECT_EQ(counts, (std::vector<double>{1.0 * ranks, ranks * (ranks - 1) / 2.0}));
    world.close();
  });
  EXPECT_EQ(said, nobody(ranks));
  EXPECT_EQ(results.size(), 1U) << "all ranks get the same bits";
}

TEST_P(UnitTcp, every_rank_gets_the_first_ranks_bytes) {
  const unsigned ranks = GetParam();
  const auto said = on_all(ranks, [&](Communicator& world) {
    const auto own = static_cast<std::byte>(world.rank() + 1);
    for (const std::size_t size : {0, 1, 128, 3'000'001}) {  // the longest fits into no buffer
      formats::Buffer bytes(size, own);
      world.broadcast(bytes);
      EXPECT_EQ(bytes, formats::Buffer(size, std::byte{1})) << "rank " << world.rank();
    }
    const std::string zeros("a\0b\xff", 4);
    EXPECT_EQ(world.of_first(world.rank() == 0 ? zeros : "longer than that"), zeros);
    EXPECT_EQ(world.of_first(world.rank() == 0 ? "" : "own"), "");
    world.close();
  });
  EXPECT_EQ(said, nobody(ranks));
}

TEST_P(UnitTcp, each_number_is_taken_once_until_a_rank_stops_it) {
  const unsigned ranks = GetParam();
  std::mutex mutex;
  std::map<std::uint64_t, int> taken;
  const auto said = on_all(ranks, [&](Communicator& world) {
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t number = world.take();
      const std::lock_guard lock(mutex);
      ++taken[number];
    }
    world.wait_for_all();
    if (world.rank() == ranks - 1) world.stop_taking();
    world.wait_for_all();
    EXPECT_EQ(world.take(), Communicator::no_more);
    world.close();
  });
  EXPECT_EQ(said, nobody(ranks));
  EXPECT_EQ(taken.size(), 20U * ranks);
  EXPECT_EQ(taken.rbegin()->first, 20U * ranks - 1);
}

TEST_P(UnitTcp, a_rank_that_ends_early_is_named_to_all_others) {
  const unsigned ranks = GetParam();
  for (const unsigned leaves : {0U, ranks - 1}) {
    const auto said = on_all(ranks, [&](Communicator& world) {
      world.wait_for_all();
      if (world.rank() == leaves) return;
      std::vector<float> values(100'000);
      for (;;) {
        world.begin_sum(values);
        world.finish();
      }
    });
    for (unsigned rank = 0; rank < ranks; ++rank) {
      const std::string blamed = formats::join("rank ", leaves, " of ", ranks,
                                               " ended early; its own message may say why");
      EXPECT_EQ(said[rank], rank == leaves ? "" : blamed);
    }
  }
}

TEST_P(UnitTcp, a_rank_that_ends_early_wakes_those_who_wait_elsewhere) {
  const unsigned ranks = GetParam();
  std::latch met(ranks);  // a rank that ended sooner would be missed by those who still meet
  const auto said = on_all(ranks, [&](Communicator& world) {
    std::promise<void> woken;
    world.when_lost([] { ADD_FAILURE() << "it was replaced"; });
    world.when_lost([&] { woken.set_value(); });
    world.expect_all_there();
    world.wait_for_all();
    met.arrive_and_wait();
    if (world.rank() == ranks - 1) return;
    ASSERT_EQ(woken.get_future().wait_for(60s), std::future_status::ready);
    const std::string lost = formats::join("rank ", ranks - 1, " of ", ranks, " ended early");
    expect_error([&] { world.expect_all_there(); }, {lost});
    bool at_once = false;
    world.when_lost([&] { at_once = true; });
    EXPECT_TRUE(at_once);
  });
  EXPECT_EQ(said, nobody(ranks));
}

INSTANTIATE_TEST_SUITE_P(, UnitTcp, ::testing::Values(2U, 3U, 4U));

TEST(HostileTcp, who_does_not_come_is_named_by_those_who_wait) {
  const std::uint16_t port = free_port();
  auto second = std::async(std::launch::async, [&] {
    expect_error([&] { join_tcp({1, 4, {"127.0.0.1", port}, 5s}); }, {"rank 1 of 4 cannot join"});
  });
  expect_error(
      [&] {
        join_tcp({0, 4, {"127.0.0.1", port}, 1s});
      },
      {"rank 0 of 4", "in vain for rank 2, 3", "MASTER_PORT"});
  second.get();
  expect_error(
      [&] {
        join_tcp({3, 4, {"127.0.0.1", port}, 0s});
      },
      {"rank 3 of 4 cannot join rank 0", "127.0.0.1 port", "MASTER_ADDR"});
}

// Plays rank 0, which names a place where nobody listens, and ends.
TEST(HostileTcp, who_cannot_reach_the_next_rank_waits_no_longer_than_rank_0_lives) {
  const formats::Descriptor door = listen_at(0);
  const std::uint16_t port = port_of(door), nowhere = free_port();
  const auto start = std::chrono::steady_clock::now();
  auto second = std::async(std::launch::async, [&] {
    expect_error(
        [&] {
          join_tcp({1, 3, {"127.0.0.1", port}, 60s});
        },
        {"rank 1 of 3 cannot reach rank 2 of 3, and rank 0 has ended"});
  });
  std::string from;
  formats::Descriptor peer = accept_before(door, start + 20s, from);
  const Hello hello = receive_hello(peer);
  EXPECT_EQ(hello.rank, 1U);
  EXPECT_EQ(hello.ranks, 3U);
  send_next(peer, {"127.0.0.1", nowhere});
  peer = {};
  second.get();
  EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

TEST(HostileTcp, a_stranger_who_says_nothing_holds_up_nobody_for_ever) {
  const std::uint16_t port = free_port();
  auto stranger = std::async(std::launch::async, [&] {
    return connect_before({"127.0.0.1", port}, std::chrono::steady_clock::now() + 5s);
  });
  expect_error([&] { join_tcp({0, 2, {"127.0.0.1", port}, 1s}); }, {"in vain for rank 1"});
  EXPECT_TRUE(stranger.get());
}

TEST(HostileTcp, strangers_who_say_something_else_are_ignored) {
  const std::uint16_t port = free_port();
  std::vector<std::future<std::string>> ranks;
  for (unsigned rank = 0; rank < 2; ++rank) {
    ranks.push_back(std::async(std::launch::async, [=] {
      // The strangers come first.
      if (rank == 1) std::this_thread::sleep_for(300ms);
      try {
        join_tcp({rank, 2, {"127.0.0.1", port}, 20s})->close();
      } catch (const std::exception& error) {
        return std::string(error.what());
      }
      return std::string();
    }));
  }
  // Another protocol, a hello of a wrong size, one with another greeting, and one that breaks off.
  for (const std::string_view said :
       {std::string_view("GET / HTTP/1.1\r\n\r\n"), std::string_view("\1\021"),
        std::string_view("\1\022FEEDRATE1234567890"), std::string_view("\1\022feedrate")}) {
    const auto stranger =
        connect_before({"127.0.0.1", port}, std::chrono::steady_clock::now() + 5s);
    send_all(stranger, formats::as_bytes(said));
  }
  for (auto& rank : ranks) EXPECT_EQ(rank.get(), "");
}

TEST(UnitMessages, what_one_end_sends_the_other_receives) {
  const formats::Descriptor listener = listen_at(0);
  const Deadline deadline = std::chrono::steady_clock::now() + 5s;
  const auto one = connect_before({"127.0.0.1", port_of(listener)}, deadline);
  std::string from;
  const auto other = accept_before(listener, deadline, from);
  send_hello(one, {.rank = 70'000, .ranks = 70'001, .port = 65'535});
  formats::Buffer bytes(20);
  receive_all(other, bytes);
  EXPECT_EQ(formats::as_text(bytes),
            "\1\022feedrate"
            "\x70\x11\1\0\x71\x11\1\0\xff\xff"s);
  send_all(one, bytes);
  const Hello hello = receive_hello(other);
  EXPECT_EQ(hello.rank, 70'000U);
  EXPECT_EQ(hello.ranks, 70'001U);
  EXPECT_EQ(hello.port, 65'535);
  send_next(one, {"::1", 513});
  const Address next = receive_next(other);
  EXPECT_EQ(next.host, "::1");
  EXPECT_EQ(next.port, 513);
  send_message(one, Tag::take);
  EXPECT_EQ(receive_message(other).tag, Tag::take);
  send_message(one, Tag::take);
  expect_error([&] { receive_hello(other); }, {"another message"});
}

TEST(HostileTcp, ranks_of_two_jobs_do_not_mix) {
  const std::uint16_t port = free_port();
  auto other = std::async(std::launch::async, [&] {
    expect_error([&] { join_tcp({1, 2, {"127.0.0.1", port}, 5s}); }, {"rank 1 of 2 cannot join"});
  });
  expect_error(
      [&] {
        join_tcp({0, 3, {"127.0.0.1", port}, 5s});
      },
      {"rank 0 of 3", "127.0.0.1 says that it is rank 1 of 2"});
  other.get();
}

TEST(HostileTcp, a_port_that_is_taken_is_named) {
  const formats::Descriptor taken = listen_at(0);
  expect_error(
      [&] {
        join_tcp({0, 2, {"127.0.0.1", port_of(taken)}, 1s});
      },
      {formats::join("port ", port_of(taken)), "in use"});
}

std::optional<Meeting> meeting(const std::map<std::string, std::string>& variables) {
  return meeting_in([&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

// The kernel gives connections the even ports in turn, so that one of these tries would come from
// the port that it is to reach, and reach itself.
TEST(UnitSockets, a_port_where_nobody_listens_is_never_reached) {
  const auto nowhere = static_cast<std::uint16_t>(port_of(listen_at(0)) & ~1);
  for (int i = 0; i < 40'000; ++i) {
    expect_error([&] { connect_before({"127.0.0.1", nowhere}, {}); }, {"cannot be reached"});
    if (HasFailure()) break;
  }
}

TEST(UnitMeeting, the_variables_of_torchrun_say_where_rank_0_is) {
  EXPECT_FALSE(meeting({}));
  EXPECT_FALSE(meeting({{"RANK", "0"}, {"WORLD_SIZE", "1"}})) << "one process";
  std::map<std::string, std::string> variables = {
      {"RANK", "2"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
  const auto found = meeting(variables);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2U);
  EXPECT_EQ(found->ranks, 4U);
  EXPECT_EQ(found->first.host, "node1");
  EXPECT_EQ(found->first.port, 29500);
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(meeting(variables)->first.port, 29501) << "torchrun itself listens at MASTER_PORT";
  variables["MASTER_PORT"] = "x";
  expect_error([&] { meeting(variables); }, {"MASTER_PORT is 'x'"});
  variables["RANK"] = "4";
  expect_error([&] { meeting(variables); }, {"RANK is 4", "WORLD_SIZE, which is 4"});
  expect_error(
      [&] {
        meeting({{"RANK", "1"}, {"WORLD_SIZE", "4"}});
      },
      {"process 1 of 4", "MASTER_ADDR", "mpirun"});
}

}  // namespace
}  // namespace feedrate::trainer
