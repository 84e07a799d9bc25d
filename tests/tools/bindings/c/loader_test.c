/* Loaders and batches: options, versions of structs, lifetimes, states, threads and forks. */

#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"

static void refused(const feedrate_dataset* dataset, feedrate_loader_options options,
                    const char* word) {
  feedrate_loader* loader = NULL;
  CHECK(said(feedrate_loader_create(dataset, &options, &loader), FEEDRATE_MISUSED, word));
  CHECK(loader == NULL);
}

static void options_that_make_no_sense_are_refused(const char* path) {
  feedrate_dataset* dataset = opened(path);
  const feedrate_loader_options all = usual();
  const double one = 1, zero = 0;
  feedrate_loader_options options;
#define REFUSED(member, value, word) \
  (options = all, options.member = (value), refused(dataset, options, word))
  REFUSED(recipe, "mnits", "did you mean mnist");
  REFUSED(recipe, "none+mixup", "one label an image");
  REFUSED(batch, 0, "batch: expected a whole number from 1 to 65536, found 0");
  REFUSED(batch, 65537, "batch: expected a whole number from 1 to 65536, found 65537");
  REFUSED(threads, -2, "a whole number from 0 to 256 or FEEDRATE_THREADS_AUTO, found -2");
  REFUSED(threads, 257, "threads: expected a whole number from 0 to 256");
  REFUSED(epochs, 1000001, "epochs: expected a whole number from 1 to 1000000 or 0, found 1000001");
  REFUSED(pixels, 3, "FEEDRATE_PIXELS_U8, FEEDRATE_PIXELS_F32 or FEEDRATE_PIXELS_F16, found 3");
  REFUSED(last, 4, "FEEDRATE_LAST_WRAP or FEEDRATE_LAST_PAD, found 4");
  REFUSED(on_bad, -1, "FEEDRATE_BAD_REPLACE or FEEDRATE_BAD_SKIP, found -1");
  REFUSED(ranks, 0, "ranks: expected a whole number from 1 to 65536, found 0");
  REFUSED(rank, 1, "rank: expected a rank below the number of ranks, 1, found 1");
  REFUSED(io_threads, 65, "io_threads: expected a whole number from 0 to 64, found 65");
  REFUSED(start.position, 601, "601");
  REFUSED(mean_count, 1, "mean is null");
  REFUSED(size, 8, "expected a size of at least");
  REFUSED(layout, 3, "FEEDRATE_LAYOUT_NHWC, FEEDRATE_LAYOUT_NCHW or FEEDRATE_LAYOUT_USUAL");
  REFUSED(layout, INT32_MIN, "layout: expected");
  REFUSED(decode, 2, "FEEDRATE_DECODE_FULL or FEEDRATE_DECODE_SCALED, found 2");
  REFUSED(decode, FEEDRATE_DECODE_SCALED, "decode = FEEDRATE_DECODE_SCALED: recipe none");
  options = all;
  options.batch = 85;
  options.ranks = 7;
  refused(dataset, options, "600 images in batches of 85 for each of 7 ranks leave 5");
  options = all;
  options.mean = &one;
  options.mean_count = 1;
  refused(dataset, options, "needs pixels = FEEDRATE_PIXELS_F32 or FEEDRATE_PIXELS_F16");
  options.pixels = FEEDRATE_PIXELS_F32;
  options.deviation = &zero;
  options.deviation_count = 1;
  refused(dataset, options, "deviation: expected a number above 0, found 0");
  feedrate_dataset_free(dataset);
}

static void structs_of_other_versions_work(const char* path) {
  struct {
    feedrate_loader_options known;
    uint64_t unknown;
  } newer;
  struct {
    feedrate_batch_view known;
    uint64_t unknown;
  } view;
  feedrate_dataset* dataset = opened(path);
  feedrate_loader* loader = NULL;
  feedrate_batch* batch;
  CHECK(feedrate_loader_options_init(&newer.known, sizeof newer) == FEEDRATE_OK);
  CHECK(newer.unknown == 0 && newer.known.size == sizeof newer && newer.known.batch == 64);
  newer.unknown = 1;
  CHECK(said(feedrate_loader_create(dataset, &newer.known, &loader), FEEDRATE_MISUSED, "newer"));
  newer.unknown = 0;
  CHECK(feedrate_loader_create(dataset, &newer.known, &loader) == FEEDRATE_OK);
  newer.known.size = offsetof(feedrate_loader_options, decode); /* an older program's */
  newer.known.decode = 42;
  feedrate_loader_free(loader);
  CHECK(feedrate_loader_create(dataset, &newer.known, &loader) == FEEDRATE_OK);
  CHECK(feedrate_loader_next(loader, &batch) == FEEDRATE_OK);
  view.unknown = 42;
  view.known.size = sizeof view;
  CHECK(feedrate_batch_get(batch, &view.known) == FEEDRATE_OK);
  CHECK(view.known.count == 64 && view.known.size == sizeof view && view.unknown == 42);
  view.known.size = 16;
  view.known.count = 42;
  CHECK(said(feedrate_batch_get(batch, &view.known), FEEDRATE_MISUSED, "size"));
  CHECK(view.known.count == 42);
  feedrate_batch_release(batch);
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
}

static void kept_batches_and_tensors_stay_as_they_are(const char* path) {
  feedrate_dataset* dataset = opened(path);
  feedrate_loader_options options = usual();
  feedrate_loader* loader;
  feedrate_loader_info info = {.size = sizeof info};
  feedrate_batch* kept[60];
  struct DLManagedTensorVersioned* tensor[2];
  const double mean = 33, deviation = 78;
  size_t count = 0, i;
  options.batch = 10;
  options.threads = 2;
  options.shuffle = 0;
  loader = created(dataset, options);
  CHECK(feedrate_loader_get_info(loader, &info) == FEEDRATE_OK);
  CHECK(info.batches_per_epoch == 60 && info.height == 28 && info.threads == 2);
  while (count < 60 && feedrate_loader_next(loader, &kept[count]) == FEEDRATE_OK) ++count;
  CHECK(count == 60 && feedrate_loader_next(loader, &kept[0]) == FEEDRATE_END);
  CHECK(feedrate_batch_to_dlpack(kept[59], FEEDRATE_IMAGES, &tensor[0]) == FEEDRATE_OK);
  CHECK(feedrate_batch_to_dlpack(kept[59], FEEDRATE_INDICES, &tensor[1]) == FEEDRATE_OK);
  CHECK(said(feedrate_batch_to_dlpack(kept[59], (feedrate_part)3, tensor), FEEDRATE_MISUSED, "3"));
  feedrate_loader_free(loader);
  for (i = 0; i < count; ++i) {
    const feedrate_batch_view view = seen(kept[i]);
    feedrate_sample* sample;
    feedrate_sample_view one = {.size = sizeof one};
    CHECK(view.number == i && view.indices[3] == (int64_t)(10 * i + 3) && view.epoch == 0);
    CHECK(view.last_of_epoch == (i == 59));
    need(feedrate_dataset_get_sample(dataset, 10 * i + 3, &sample));
    need(feedrate_sample_get(sample, &one));
    CHECK(memcmp(one.pixels, (const uint8_t*)view.images + 3 * 28 * 28, 28 * 28) == 0);
    CHECK(one.label == view.labels[3]);
    feedrate_sample_release(sample);
    feedrate_batch_release(kept[i]);
  }
  CHECK(tensor[0]->version.major == 1 && tensor[0]->flags == 0);
  CHECK(tensor[0]->dl_tensor.ndim == 4 && tensor[0]->dl_tensor.dtype.bits == 8);
  CHECK(tensor[0]->dl_tensor.shape[0] == 10 && tensor[0]->dl_tensor.strides[0] == 28 * 28);
  CHECK(tensor[0]->dl_tensor.strides[3] == 1 && tensor[0]->dl_tensor.device.type == 1);
  CHECK(((const int64_t*)tensor[1]->dl_tensor.data)[9] == 599);
  for (i = 0; i < 2; ++i) tensor[i]->deleter(tensor[i]);

  options.pixels = FEEDRATE_PIXELS_F32;
  options.mean = &mean;
  options.deviation = &deviation;
  options.mean_count = options.deviation_count = 1;
  loader = created(dataset, options);
  need(feedrate_loader_next(loader, &kept[0]));
  need(feedrate_batch_to_dlpack(kept[0], FEEDRATE_IMAGES, &tensor[0]));
  CHECK(tensor[0]->dl_tensor.dtype.code == 2 && tensor[0]->dl_tensor.shape[1] == 1);
  CHECK(((const float*)seen(kept[0]).images)[0] >= -33.F / 78);
  tensor[0]->deleter(tensor[0]);
  feedrate_batch_release(kept[0]);
  feedrate_loader_free(loader);

  options.layout = FEEDRATE_LAYOUT_NHWC;
  loader = created(dataset, options);
  need(feedrate_loader_next(loader, &kept[0]));
  need(feedrate_batch_to_dlpack(kept[0], FEEDRATE_IMAGES, &tensor[0]));
  CHECK(tensor[0]->dl_tensor.dtype.bits == 32 && tensor[0]->dl_tensor.shape[3] == 1);
  tensor[0]->deleter(tensor[0]);
  feedrate_batch_release(kept[0]);
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
}

static void a_state_resumes_at_another_batch_and_thread_count(const char* path) {
  static int64_t whole[2][1200], rest[2][1200];
  feedrate_dataset* dataset = opened(path);
  feedrate_loader_options options = usual();
  feedrate_state state;
  feedrate_loader* loader;
  size_t left;
  options.recipe = "mnist";
  options.epochs = 2;
  options.batch = 100;
  options.threads = 0;
  options.start.seed = 7;
  loader = created(dataset, options);
  CHECK(numbers(loader, whole[0], whole[1], 700) == 700);
  CHECK(feedrate_loader_get_state(loader, &state) == FEEDRATE_OK);
  CHECK(state.seed == 7 && state.epoch == 1 && state.position == 100);
  CHECK(numbers(loader, whole[0] + 700, whole[1] + 700, 500) == 500);
  feedrate_loader_free(loader);
  options.start = state;
  options.batch = 33;
  options.threads = 3;
  loader = created(dataset, options);
  left = numbers(loader, rest[0], rest[1], 1200);
  CHECK(left == 500 && memcmp(rest[0], whole[0] + 700, left * sizeof(int64_t)) == 0);
  CHECK(memcmp(rest[1], whole[1] + 700, left * sizeof(int64_t)) == 0);
  CHECK(feedrate_loader_get_state(loader, &options.start) == FEEDRATE_OK);
  feedrate_loader_free(loader);
  loader = created(dataset, options); /* behind the end */
  CHECK(numbers(loader, rest[0], rest[1], 1200) == 0);
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
}

static void* take_all(void* given) {
  feedrate_loader* loader = given;
  feedrate_batch* batch;
  static feedrate_status status;
  while ((status = feedrate_loader_next(loader, &batch)) == FEEDRATE_OK)
    feedrate_batch_release(batch);
  return &status;
}

static void stopping_ends_a_next_elsewhere(const char* path) {
  feedrate_dataset* dataset = opened(path);
  feedrate_loader_options options = usual();
  feedrate_loader* loader;
  feedrate_batch* batch;
  pthread_t taker;
  void* status;
  const struct timespec a_while = {0, 20000000};
  options.epochs = 0;
  options.threads = 2;
  loader = created(dataset, options);
  pthread_create(&taker, NULL, take_all, loader);
  nanosleep(&a_while, NULL);
  CHECK(feedrate_loader_stop(loader) == FEEDRATE_OK);
  pthread_join(taker, &status);
  CHECK(*(feedrate_status*)status == FEEDRATE_STOPPED);
  CHECK(feedrate_loader_next(loader, &batch) == FEEDRATE_STOPPED);
  CHECK(feedrate_loader_stop(loader) == FEEDRATE_OK);
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
  feedrate_loader_free(NULL);
  feedrate_dataset_free(NULL);
  feedrate_batch_release(NULL);
  feedrate_sample_release(NULL);
}

static void a_forked_child_is_told(const char* path) {
  feedrate_dataset* dataset = opened(path);
  feedrate_loader_options options = usual();
  feedrate_loader *loader, *another = NULL;
  feedrate_batch* batch;
  static int64_t labels[600], indices[600];
  int code = -1;
  pid_t child;
  options.threads = 2;
  loader = created(dataset, options);
  need(feedrate_loader_next(loader, &batch));
  child = fork();
  if (child == 0) {
    feedrate_batch* next;
    failures = 0;
    alarm(30);
    CHECK(said(feedrate_loader_next(loader, &next), FEEDRATE_FORKED, "forked"));
    CHECK(
        said(feedrate_loader_create(dataset, &options, &another), FEEDRATE_FORKED, "threads = 0"));
    options.threads = 0;
    another = created(dataset, options);
    CHECK(numbers(another, labels, indices, 600) == 600);
    CHECK(memcmp(seen(batch).labels, labels, 64 * sizeof *labels) == 0);
    feedrate_loader_free(another);
    feedrate_loader_free(loader);
    feedrate_batch_release(batch);
    _exit(failures != 0);
  }
  waitpid(child, &code, 0);
  CHECK(WIFEXITED(code) && WEXITSTATUS(code) == 0);
  feedrate_batch_release(batch);
  CHECK(numbers(loader, labels, indices, 600) == 600 - 64);
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
}

void test_loaders(const char* path) {
  options_that_make_no_sense_are_refused(path);
  structs_of_other_versions_work(path);
  kept_batches_and_tensors_stay_as_they_are(path);
  a_state_resumes_at_another_batch_and_thread_count(path);
  stopping_ends_a_next_elsewhere(path);
  a_forked_child_is_told(path);
}
