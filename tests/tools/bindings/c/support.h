#pragma once
/* What the tests of the C interface share. */

#include <feedrate/feedrate.h>
#include <stdio.h>
#include <string.h>

extern int failures;

#define CHECK(condition)                                                                      \
  ((condition)                                                                                \
       ? (void)0                                                                              \
       : (void)(++failures, fprintf(stderr, "%s:%d: expected %s; last error: %s\n", __FILE__, \
                                    __LINE__, #condition, feedrate_last_error()->text)))

/* Ends the program when what the test builds on has failed. */
void need(feedrate_status status);
feedrate_dataset* opened(const char* path);
feedrate_loader_options usual(void);
feedrate_loader* created(const feedrate_dataset* dataset, feedrate_loader_options options);
feedrate_batch_view seen(const feedrate_batch* batch);
/* Whether the last error has that status and that word. */
int said(feedrate_status found, feedrate_status expected, const char* word);
/* Labels and indices of up to `most` images from the loader on; how many there were. */
size_t numbers(feedrate_loader* loader, int64_t* labels, int64_t* indices, size_t most);

/* As in dlpack.h. */
struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned*);
  uint64_t flags;
  struct {
    void* data;
    struct {
      int32_t type, id;
    } device;
    int32_t ndim;
    struct {
      uint8_t code, bits;
      uint16_t lanes;
    } dtype;
    int64_t* shape;
    int64_t* strides;
    uint64_t byte_offset;
  } dl_tensor;
};
