/* Loads a dataset once, in C, and prints how many batches there were and the mean of all pixels.
 *
 *   iterate_in_c DATASET
 */
#include <feedrate/feedrate.h>
#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "iterate_in_c: %s\n", feedrate_last_error()->text);
  return 1;
}

int main(int count, char** words) {
  feedrate_dataset* dataset;
  feedrate_loader* loader;
  feedrate_batch* batch;
  feedrate_loader_options options;
  feedrate_status status;
  unsigned long long batches = 0, pixels = 0, sum = 0;
  if (count != 2) {
    fprintf(stderr, "usage: iterate_in_c DATASET\n");
    return 2;
  }
  if (feedrate_loader_options_init(&options, sizeof options) != FEEDRATE_OK) return failed();
  options.batch = 16;
  options.threads = 2;
  if (feedrate_dataset_open(words[1], &dataset) != FEEDRATE_OK) return failed();
  if (feedrate_loader_create(dataset, &options, &loader) != FEEDRATE_OK) return failed();
  while ((status = feedrate_loader_next(loader, &batch)) == FEEDRATE_OK) {
    feedrate_batch_view view = {.size = sizeof view};
    size_t i, size;
    if (feedrate_batch_get(batch, &view) != FEEDRATE_OK) return failed();
    size = (size_t)view.count * view.height * view.width * view.channels;
    for (i = 0; i < size; ++i) sum += ((const uint8_t*)view.images)[i];
    pixels += size;
    ++batches;
    feedrate_batch_release(batch);
  }
  if (status != FEEDRATE_END) return failed();
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
  printf("%llu batches, mean %.3f\n", batches, (double)sum / (double)pixels);
  return 0;
}
