/* The C interface, used as C99 uses it.
 *
 *   test_c check DATASET DAMAGED SAMPLE   every promise of feedrate.h; DAMAGED is a copy of DATASET
 *                                           whose sample number SAMPLE cannot be read
 *   test_c classes DATASET                  prints the names of its classes
 *   test_c load DATASET RECIPE THREADS    writes labels (int32) and images of every batch to stdout
 */
#include <stdlib.h>

#include "support.h"

void test_datasets(const char* path, const char* damaged, unsigned long bad);
void test_loaders(const char* path);

static void load(const char* path, const char* recipe, int threads) {
  feedrate_dataset* dataset = opened(path);
  feedrate_loader_options options = usual();
  feedrate_loader* loader;
  feedrate_batch* batch;
  feedrate_status status;
  options.recipe = recipe;
  options.threads = threads;
  loader = created(dataset, options);
  while ((status = feedrate_loader_next(loader, &batch)) == FEEDRATE_OK) {
    const feedrate_batch_view view = seen(batch);
    uint32_t i;
    for (i = 0; i < view.count; ++i) {
      const int32_t label = (int32_t)view.labels[i];
      fwrite(&label, sizeof label, 1, stdout);
    }
    fwrite(view.images, (size_t)view.height * view.width * view.channels, view.count, stdout);
    feedrate_batch_release(batch);
  }
  need(status == FEEDRATE_END ? FEEDRATE_OK : status);
  feedrate_loader_free(loader);
  feedrate_dataset_free(dataset);
}

static void classes(const char* path) {
  feedrate_dataset* dataset = opened(path);
  feedrate_dataset_info info = {.size = sizeof info};
  size_t i;
  need(feedrate_dataset_get_info(dataset, &info));
  for (i = 0; i < info.class_name_count; ++i) puts(info.class_names[i]);
  feedrate_dataset_free(dataset);
}

int main(int count, char** words) {
  if (count == 5 && strcmp(words[1], "load") == 0) {
    load(words[2], words[3], atoi(words[4]));
  } else if (count == 3 && strcmp(words[1], "classes") == 0) {
    classes(words[2]);
  } else if (count == 5 && strcmp(words[1], "check") == 0) {
    CHECK(feedrate_last_error()->status == FEEDRATE_OK && feedrate_version()[0] != '\0');
    test_datasets(words[2], words[3], strtoul(words[4], NULL, 10));
    test_loaders(words[2]);
  } else {
    fprintf(stderr, "usage: see main.c\n");
    return 2;
  }
  return failures == 0 ? 0 : 1;
}
