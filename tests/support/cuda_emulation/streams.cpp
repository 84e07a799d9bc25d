// Streams, events and graphs.

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "queue.h"

namespace {

using feedrate::emulation::Work;

// An entry of a stream.
struct Entry {
  Work work;
  bool starts_early = false;
};
// An entry of a captured stream: work, or a wait for a place in another stream's list.
struct Recorded {
  Work work;
  std::size_t list = 0;
  std::size_t place = 0;
  bool starts_early = false;
};
using Lists = std::vector<std::vector<Recorded>>;  // by stream, the origin's first

}  // namespace

// Of one thread, from cudaStreamBeginCapture to cudaStreamEndCapture.
struct Capture {
  std::vector<cudaStream_t> streams;
  Lists lists;
  bool lost = false;
  bool ended = false;
};

// A stream: pending work, and how much was submitted and done. An event: a place in a stream, or in
// the list of a captured one.
struct CUstream_st {
  std::deque<Entry> work;
  std::size_t given = 0;
  std::size_t done = 0;
  std::shared_ptr<Capture> capture;
  std::size_t list = 0;  // of the capture
};
struct CUevent_st {
  bool timed = false;
  double at = -1;  // on the device's clock; −1: not yet
  cudaStream_t stream = nullptr;
  std::size_t place = 0;
  std::shared_ptr<Capture> capture;
  std::size_t list = 0;
  int polls = 0;
};
struct CUgraph_st {
  std::shared_ptr<const Lists> lists;
};
struct CUgraphExec_st {
  std::shared_ptr<const Lists> lists;
};

namespace feedrate::emulation {
namespace {

thread_local std::shared_ptr<Capture> capturing;
double clock_milliseconds = 0;

bool says(const char* name, std::string_view what) {
  const char* text = std::getenv(name);
  return text != nullptr && text == what;
}

bool told(std::string_view what) { return says("FEEDRATE_EMULATED_CAPTURE", what); }

// Of a row of work, the last kernel starts first, where it may start early.
Work behind(Work before, Work work, bool starts_early) {
  if (!before) return work;
  if (!starts_early) {
    before();
    return work;
  }
  return [before = std::move(before), work = std::move(work)] { run_early(work, before); };
}

double take_time() {
  pass(event_milliseconds);
  return clock_milliseconds;
}

void catch_up(cudaStream_t stream, std::size_t place) {
  if (stream == nullptr || stream->done >= place) return;
  Work row;
  while (stream->done < place) {
    Entry entry = std::move(stream->work.front());
    stream->work.pop_front();
    ++stream->done;
    row = behind(std::move(row), std::move(entry.work), entry.starts_early);
  }
  row();
}

bool has_come(const CUevent_st& event) {
  return event.stream == nullptr || event.stream->done >= event.place;
}

cudaError_t lose(Capture& capture, cudaError_t why) {
  capture.lost = true;
  ++counts().refusals;
  return why;
}

cudaError_t record(CUstream_st& stream, Recorded item) {
  if (stream.capture->lost) return cudaErrorStreamCaptureInvalidated;
  // Like a driver that cannot record programmatic launches.
  if (told("no early kernels") && item.starts_early) {
    return lose(*stream.capture, cudaErrorStreamCaptureUnsupported);
  }
  stream.capture->lists[stream.list].push_back(std::move(item));
  // Like a library that makes a call during its work that cannot be recorded.
  if (told("broken") && stream.capture->lists[stream.list].size() == 3) {
    return lose(*stream.capture, cudaErrorStreamCaptureUnsupported);
  }
  return cudaSuccess;
}

// How much of each list the end of the origin's list waits for.
std::vector<std::size_t> joined(const Lists& lists) {
  std::vector<std::size_t> reached(lists.size());
  std::vector<std::size_t> open{0};
  reached[0] = lists[0].size();
  while (!open.empty()) {
    const std::size_t list = open.back();
    open.pop_back();
    for (std::size_t i = 0; i < reached[list]; ++i) {
      const Recorded& item = lists[list][i];
      if (item.work || reached[item.list] >= item.place) continue;
      reached[item.list] = item.place;
      open.push_back(item.list);
    }
  }
  return reached;
}

std::size_t number_of_environment(const char* name) {
  const char* number = std::getenv(name);
  return number == nullptr ? 0 : std::strtoul(number, nullptr, 10);
}

class Replay {
 public:
  explicit Replay(const Lists& lists)
      : lists_(lists),
        done_(lists.size()),
        lost_wait_(number_of_environment("FEEDRATE_EMULATED_LOST_WAIT")) {}

  void run() {
    const bool early = says("FEEDRATE_EMULATED_BRANCHES", "early");
    while (early && done_[0] < lists_[0].size()) {
      for (std::size_t list = 1; list < lists_.size(); ++list) run_what_may(list);
      work_of(0, done_[0])();
      ++done_[0];
    }
    for (std::size_t list = 0; list < lists_.size(); ++list) catch_up(list, lists_[list].size());
  }

 private:
  void catch_up(std::size_t list, std::size_t place) {
    Work row;
    while (done_[list] < place) {
      const std::size_t i = done_[list]++;
      row = behind(std::move(row), work_of(list, i), lists_[list][i].starts_early);
    }
    if (row) row();
  }
  Work work_of(std::size_t list, std::size_t i) {
    const Recorded& item = lists_[list][i];
    if (item.work) return item.work;
    if (list == 0 && ++waits_ == lost_wait_) return [] {};
    return [this, &item] { catch_up(item.list, item.place); };
  }
  void run_what_may(std::size_t list) {
    for (; done_[list] < lists_[list].size(); ++done_[list]) {
      const Recorded& item = lists_[list][done_[list]];
      if (item.work) {
        item.work();
      } else if (done_[item.list] < item.place) {
        return;
      }
    }
  }

  const Lists& lists_;
  std::vector<std::size_t> done_;
  std::size_t lost_wait_;
  std::size_t waits_ = 0;  // of the first list, so far
};

}  // namespace

EmulatedCounts& counts() {
  static EmulatedCounts counted;
  return counted;
}

void pass(double milliseconds) { clock_milliseconds += milliseconds; }

bool captured(cudaStream_t stream) { return stream != nullptr && stream->capture != nullptr; }

cudaError_t forbidden_in_capture() {
  return capturing ? lose(*capturing, cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t enqueue(cudaStream_t stream, Work work, bool starts_early) {
  if (stream == nullptr) {  // the legacy stream, which ours do not wait for
    if (capturing) return lose(*capturing, cudaErrorStreamCaptureImplicit);
    work();
    return cudaSuccess;
  }
  if (stream->capture) {
    return record(*stream, {.work = std::move(work), .starts_early = starts_early});
  }
  stream->work.push_back({std::move(work), starts_early});
  ++stream->given;
  if (says("FEEDRATE_EMULATED_STREAMS", "early")) catch_up(stream, stream->given);
  return cudaSuccess;
}

}  // namespace feedrate::emulation

using namespace feedrate::emulation;

extern "C" {

__attribute__((visibility("default"))) const feedrate::EmulatedCounts* feedrate_emulated_counts() {
  return &counts();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t refused = forbidden_in_capture()) return refused;
  if (stream != nullptr) catch_up(stream, stream->given);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const CUevent_st then = *event;
  if (then.capture == nullptr) {
    if (stream != nullptr && stream->capture) {
      return lose(*stream->capture, cudaErrorStreamCaptureIsolation);
    }
    return enqueue(stream, [=] { catch_up(then.stream, then.place); });
  }
  if (then.capture->ended) return cudaErrorCapturedEvent;
  if (stream->capture == nullptr) {  // it joins the capture
    stream->capture = then.capture;
    stream->list = then.capture->lists.size();
    then.capture->lists.emplace_back();
    then.capture->streams.push_back(stream);
  }
  return record(*stream, {.work = nullptr, .list = then.list, .place = then.place});
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->timed = (flags & cudaEventDisableTiming) == 0;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (stream == nullptr) {  // all that was given to it is done
    *event = {event->timed, event->timed ? take_time() : -1, nullptr, 0, nullptr, 0};
    return cudaSuccess;
  }
  if (stream->capture) {
    *event = {event->timed,    -1,          stream, stream->capture->lists[stream->list].size(),
              stream->capture, stream->list};
    return cudaSuccess;
  }
  const std::size_t place = stream->given + (event->timed ? 1 : 0);
  *event = {event->timed, -1, stream, place, nullptr, 0};
  if (event->timed) enqueue(stream, [event] { event->at = take_time(); });
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  if (flags == cudaEventRecordDefault) return cudaEventRecord(event, stream);
  if (flags != cudaEventRecordExternal || !stream->capture) return cudaErrorInvalidValue;
  return record(*stream, {.work = [event] { event->at = take_time(); }});
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->timed || !end->timed) return cudaErrorInvalidResourceHandle;
  if (begin->at < 0 || end->at < 0) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(end->at - begin->at);
  return cudaSuccess;
}
// Events come when somebody blocks or, as the environment may say, at the n-th poll of an event.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t refused = forbidden_in_capture()) return refused;
  if (event->capture) return cudaErrorCapturedEvent;
  if (has_come(*event)) return cudaSuccess;
  ++counts().polls;
  const char* patience = std::getenv("FEEDRATE_EMULATED_POLLS");
  if (patience == nullptr || ++event->polls < std::atoi(patience)) return cudaErrorNotReady;
  catch_up(event->stream, event->place);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t refused = forbidden_in_capture()) return refused;
  if (event->capture) return cudaErrorCapturedEvent;
  if (!has_come(*event)) ++counts().blocks;
  catch_up(event->stream, event->place);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (told("refused") || stream == nullptr || capturing ||
      mode != cudaStreamCaptureModeThreadLocal) {
    return cudaErrorStreamCaptureUnsupported;
  }
  capturing = std::make_shared<Capture>();
  capturing->streams.push_back(stream);
  capturing->lists.emplace_back();
  stream->capture = capturing;
  stream->list = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = stream->capture == nullptr ? cudaStreamCaptureStatusNone
            : stream->capture->lost    ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!capturing || capturing->streams.front() != stream) return cudaErrorIllegalState;
  const std::shared_ptr<Capture> capture = std::move(capturing);
  capturing = nullptr;
  capture->ended = true;
  for (const cudaStream_t each : capture->streams) each->capture = nullptr;
  if (capture->lost) return cudaErrorStreamCaptureInvalidated;
  const std::vector<std::size_t> reached = joined(capture->lists);
  for (std::size_t list = 0; list < reached.size(); ++list) {
    if (reached[list] != capture->lists[list].size()) return cudaErrorStreamCaptureUnjoined;
  }
  ++counts().captures;
  counts().recorded = counts().beside = counts().early = 0;
  for (const auto& list : capture->lists) {
    for (const Recorded& item : list) {
      if (!item.work) continue;
      ++counts().recorded;
      counts().beside += &list != &capture->lists.front();
      counts().early += item.starts_early;
    }
  }
  *graph = new CUgraph_st{std::make_shared<const Lists>(std::move(capture->lists))};
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (const cudaError_t refused = forbidden_in_capture()) return refused;
  if (told("too large")) return cudaErrorMemoryAllocation;
  *exec = new CUgraphExec_st{graph->lists};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return forbidden_in_capture(); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (const cudaError_t refused = forbidden_in_capture()) return refused;
  ++counts().graphs;
  return enqueue(stream, [lists = exec->lists] { Replay(*lists).run(); });
}

}  // extern "C"
