#include "support.h"

#include <stdlib.h>

int failures = 0;

void need(feedrate_status status) {
  if (status == FEEDRATE_OK) return;
  fprintf(stderr, "test_c: %s\n", feedrate_last_error()->text);
  exit(1);
}

feedrate_dataset* opened(const char* path) {
  feedrate_dataset* dataset = NULL;
  need(feedrate_dataset_open(path, &dataset));
  return dataset;
}

feedrate_loader_options usual(void) {
  feedrate_loader_options options;
  need(feedrate_loader_options_init(&options, sizeof options));
  return options;
}

feedrate_loader* created(const feedrate_dataset* dataset, feedrate_loader_options options) {
  feedrate_loader* loader = NULL;
  need(feedrate_loader_create(dataset, &options, &loader));
  return loader;
}

feedrate_batch_view seen(const feedrate_batch* batch) {
  feedrate_batch_view view;
  view.size = sizeof view;
  need(feedrate_batch_get(batch, &view));
  return view;
}

int said(feedrate_status found, feedrate_status expected, const char* word) {
  const feedrate_error* error = feedrate_last_error();
  return found == expected && error->status == expected && error->size == sizeof *error &&
         strstr(error->text, word) != NULL;
}

size_t numbers(feedrate_loader* loader, int64_t* labels, int64_t* indices, size_t most) {
  feedrate_batch* batch;
  size_t count = 0;
  while (count < most && feedrate_loader_next(loader, &batch) == FEEDRATE_OK) {
    const feedrate_batch_view view = seen(batch);
    if (count + view.count > most) abort();
    memcpy(labels + count, view.labels, view.count * sizeof *labels);
    memcpy(indices + count, view.indices, view.count * sizeof *indices);
    count += view.count;
    feedrate_batch_release(batch);
  }
  return count;
}
