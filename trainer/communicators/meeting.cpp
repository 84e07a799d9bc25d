#include "trainer/communicators/meeting.h"

#include <string_view>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

template <class T>
T number_in(const char* name, const char* text) {
  const auto number = text == nullptr ? std::nullopt : parse_number<T>(text);
  if (number) return *number;
  throw Error(join(name, " is '", text == nullptr ? "" : text, "', expected a whole number"));
}

}  // namespace

std::optional<Meeting> meeting_in(const std::function<const char*(const char*)>& variable) {
  if (variable("RANK") == nullptr || variable("WORLD_SIZE") == nullptr) return std::nullopt;
  Meeting meeting;
  meeting.rank = number_in<unsigned>("RANK", variable("RANK"));
  meeting.ranks = number_in<unsigned>("WORLD_SIZE", variable("WORLD_SIZE"));
  if (meeting.rank >= meeting.ranks) {
    throw Error(join("RANK is ", meeting.rank, ", expected less than WORLD_SIZE, which is ",
                     meeting.ranks));
  }
  if (meeting.ranks == 1) return std::nullopt;
  const char* host = variable("MASTER_ADDR");
  if (host == nullptr || variable("MASTER_PORT") == nullptr) {
    throw Error(join("RANK and WORLD_SIZE say that this is process ", meeting.rank, " of ",
                     meeting.ranks, ", but not where the others are: set MASTER_ADDR and ",
                     "MASTER_PORT, the address of rank 0, or start them with mpirun"));
  }
  meeting.first = {host, number_in<std::uint16_t>("MASTER_PORT", variable("MASTER_PORT"))};
  const char* taken = variable("TORCHELASTIC_USE_AGENT_STORE");
  if (taken != nullptr && std::string_view(taken) == "True") ++meeting.first.port;
  return meeting;
}

}  // namespace feedrate::trainer
