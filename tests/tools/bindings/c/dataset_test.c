/* Datasets, samples and errors. */

#include "support.h"

static void datasets_say_what_they_hold(const char* path) {
  feedrate_dataset* dataset = opened(path);
  feedrate_dataset_info info = {.size = sizeof info};
  feedrate_sample* sample;
  feedrate_sample_view view = {.size = sizeof view};
  struct DLManagedTensorVersioned* tensor;
  CHECK(feedrate_dataset_get_info(dataset, &info) == FEEDRATE_OK);
  CHECK(info.size == sizeof info && info.images == 600 && info.height == 28 && info.width == 28);
  CHECK(info.channels == 1 && info.classes == 10 && strcmp(info.format, "lmdb") == 0);
  CHECK(strcmp(info.path, path) == 0 && strcmp(info.codec, "raw") == 0);
  CHECK(info.class_name_count == 0);
  CHECK(feedrate_dataset_get_sample(dataset, 599, &sample) == FEEDRATE_OK);
  feedrate_dataset_free(dataset);
  CHECK(feedrate_sample_get(sample, &view) == FEEDRATE_OK);
  CHECK(view.height == 28 && view.width == 28 && view.channels == 1 && view.box_count == 0);
  CHECK(view.label >= 0 && view.label < 10 && view.name != NULL);
  CHECK(feedrate_sample_to_dlpack(sample, &tensor) == FEEDRATE_OK);
  CHECK(tensor->dl_tensor.data == (const void*)view.pixels && tensor->dl_tensor.ndim == 3);
  feedrate_sample_release(sample);
  CHECK(((const uint8_t*)tensor->dl_tensor.data)[28 * 28 - 1] <= 255); /* under a sanitizer */
  tensor->deleter(tensor);
}

static void errors_have_a_code_a_text_and_a_place(const char* path, const char* damaged,
                                                  uint64_t bad) {
  feedrate_dataset* dataset = (feedrate_dataset*)&dataset;
  feedrate_sample* sample;
  feedrate_loader* loader;
  feedrate_batch* batch = NULL;
  feedrate_loader_options options;
  feedrate_status status;
  CHECK(said(feedrate_dataset_open("no/such", &dataset), FEEDRATE_NOT_FOUND, "no/such"));
  CHECK(dataset == (feedrate_dataset*)&dataset); /* nothing was written */
  CHECK(said(feedrate_dataset_open("/", &dataset), FEEDRATE_DATA, "dataset"));
  CHECK(said(feedrate_dataset_open(NULL, &dataset), FEEDRATE_MISUSED, "path is null"));
  CHECK(said(feedrate_dataset_open(path, NULL), FEEDRATE_MISUSED, "dataset is null"));
  dataset = opened(damaged);
  CHECK(said(feedrate_dataset_get_sample(dataset, 600, &sample), FEEDRATE_MISUSED, "600"));
  CHECK(said(feedrate_dataset_get_sample(dataset, bad, &sample), FEEDRATE_DATA, "sample"));
  CHECK(feedrate_last_error()->sample == bad && feedrate_last_error()->file != NULL);
  CHECK(strncmp(feedrate_last_error()->file, damaged, strlen(damaged)) == 0);

  options = usual();
  options.batch = 100;
  options.threads = 2;
  loader = created(dataset, options);
  while ((status = feedrate_loader_next(loader, &batch)) == FEEDRATE_OK) {
    feedrate_batch_release(batch);
  }
  CHECK(said(status, FEEDRATE_DATA, "sample"));
  CHECK(feedrate_last_error()->sample == bad);
  CHECK(feedrate_loader_next(loader, &batch) == FEEDRATE_END);
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
}

void test_datasets(const char* path, const char* damaged, unsigned long bad) {
  datasets_say_what_they_hold(path);
  errors_have_a_code_a_text_and_a_place(path, damaged, bad);
}
