#pragma once
// Feedrate in C: opens datasets and loads batches into memory that others can use without a copy.
// For C99 and C++, and for every language that can call C. Link with -lfeedrate.
//
//   feedrate_loader_options options;
//   feedrate_loader_options_init(&options, sizeof options);
//   options.recipe = "cifar-train";
//   feedrate_dataset* dataset;
//   feedrate_loader* loader;
//   feedrate_batch* batch;
//   if (feedrate_dataset_open("data/cifar10/train", &dataset) ||
//       feedrate_loader_create(dataset, &options, &loader)) {
//     fprintf(stderr, "%s\n", feedrate_last_error()->text);
//     exit(1);
//   }
//   while (feedrate_loader_next(loader, &batch) == FEEDRATE_OK) {
//     feedrate_batch_view view = {.size = sizeof view};
//     feedrate_batch_get(batch, &view);
//     ... view.images, view.labels ...
//     feedrate_batch_release(batch);
//   }
//   feedrate_loader_free(loader);
//   feedrate_dataset_free(dataset);
//
// Structs. Those that may grow begin with `size`, which the caller sets to sizeof of the struct as it
// was compiled. Later versions add members at the end only, so that a program and a library of different
// versions work together: the library neither reads nor writes beyond `size`. A size below that of the
// first version is FEEDRATE_MISUSED, and so is an option that is set but unknown to the library.
//
// Errors. Every function that can fail returns a status. FEEDRATE_END and FEEDRATE_STOPPED are no
// errors. What failed, feedrate_last_error() says. After an error, nothing was written to outputs.
//
// Threads. Functions of a dataset, a sample or a batch may be called from any number of threads at
// once. So may those of a loader; calls of feedrate_loader_next take turns. A handle must not be in use
// when it is freed. A null pointer can be freed.
//
// Lifetimes. A loader keeps its dataset open, and a batch its memory: handles can be freed in any
// order. After a fork, the child needs loaders of its own.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct feedrate_dataset feedrate_dataset;
typedef struct feedrate_sample feedrate_sample;
typedef struct feedrate_loader feedrate_loader;
typedef struct feedrate_batch feedrate_batch;
/// As in DLPack 1 (dlpack/dlpack.h), which has its members. Call its deleter once.
struct DLManagedTensorVersioned;

typedef enum feedrate_status {
  FEEDRATE_OK = 0,
  FEEDRATE_END = 1,        // no more batches
  FEEDRATE_STOPPED = 2,    // by feedrate_loader_stop
  FEEDRATE_MISUSED = 3,    // an argument or option makes no sense or does not suit the dataset
  FEEDRATE_NOT_FOUND = 4,  // no such file or directory
  FEEDRATE_DATA = 5,       // data that cannot be read; the error names file, sample and byte
  FEEDRATE_FORKED = 6,     // the loader belongs to the process that this one was forked from
  FEEDRATE_NO_MEMORY = 7,
  FEEDRATE_FAILED = 8  // anything else
} feedrate_status;

/// As feedrate_error.sample: no sample is to blame.
#define FEEDRATE_NO_SAMPLE UINT64_MAX

typedef struct feedrate_error {
  size_t size;             // bytes that the library filled
  feedrate_status status;  // FEEDRATE_OK where no call has failed yet
  const char* text;        // a sentence, UTF-8 but for names from archives
  const char* file;        // that holds the sample; null where the error is not about one
  uint64_t sample;         // index in the dataset, or FEEDRATE_NO_SAMPLE
  uint64_t byte;           // where the sample starts in the file; 0 where it has a file of its own
} feedrate_error;

/// The last error of this thread. Valid until the next error of this thread. Never null.
const feedrate_error* feedrate_last_error(void);

/// "0.1.0", of the library.
const char* feedrate_version(void);

/// Opens a dataset in any format that Feedrate reads: a directory, a file of another tool, or a URL of
/// either (https, http, s3).
feedrate_status feedrate_dataset_open(const char* path, feedrate_dataset** dataset);

/// Of the server of a dataset's URL; without effect on a path.
typedef struct feedrate_remote_options {
  size_t size;
  uint32_t connections;   // at most 4,096; 256
  const char* endpoint;   // of s3:// URLs; null: AWS_ENDPOINT_URL, or AWS
  const char* cache_dir;  // keeps what the server sends, for later epochs and runs; null: none
  uint64_t cache_size;    // bytes in cache_dir, 16 MiB or more; 64 GiB
} feedrate_remote_options;

/// Sets `size` and every option to its default.
feedrate_status feedrate_remote_options_init(feedrate_remote_options* options, size_t size);
/// As feedrate_dataset_open, with these options.
feedrate_status feedrate_dataset_open_remote(const char* path,
                                             const feedrate_remote_options* options,
                                             feedrate_dataset** dataset);
void feedrate_dataset_free(feedrate_dataset* dataset);

typedef struct feedrate_dataset_info {
  size_t size;
  uint64_t images;
  uint32_t height, width, channels;  // of the first image, in pixels
  uint32_t classes;                  // 0 where not stated
  // Strings live as long as the dataset.
  const char* path;
  const char* format;  // lmdb, recordio …
  const char* codec;   // raw, jpeg …: of the first image
  const char* const* class_names;
  size_t class_name_count;  // 0 where not known
} feedrate_dataset_info;

feedrate_status feedrate_dataset_get_info(const feedrate_dataset* dataset,
                                          feedrate_dataset_info* info);

/// Reads and decodes the sample at `index`, from 0, as stored: no recipe changes it.
feedrate_status feedrate_dataset_get_sample(const feedrate_dataset* dataset, uint64_t index,
                                            feedrate_sample** sample);
void feedrate_sample_release(feedrate_sample* sample);

/// (xmin, ymin, xmax, ymax) of an object, 0 … 1 of the image's sides.
typedef struct feedrate_box {
  float xmin, ymin, xmax, ymax;
} feedrate_box;

typedef struct feedrate_sample_view {
  size_t size;
  const uint8_t* pixels;  // height × width × channels, 0 … 255, RGB or grey
  uint32_t height, width, channels;
  int32_t label;              // class, from 0
  const char* name;           // file name or key in the source; "" where none is kept
  const feedrate_box* boxes;  // empty where not known
  size_t box_count;
} feedrate_sample_view;

/// What is in a sample, valid until it is released.
feedrate_status feedrate_sample_get(const feedrate_sample* sample, feedrate_sample_view* view);
/// Its pixels as a tensor of three dimensions, which may outlive the sample.
feedrate_status feedrate_sample_to_dlpack(const feedrate_sample* sample,
                                          struct DLManagedTensorVersioned** tensor);

/// Where a run stands: where to resume it, at any number of threads, ranks and images a batch.
typedef struct feedrate_state {
  uint64_t seed, epoch;
  uint64_t position;  // images of the epoch handed out, by all ranks together
} feedrate_state;

enum { FEEDRATE_THREADS_AUTO = -1 };
enum { FEEDRATE_PIXELS_U8 = 0, FEEDRATE_PIXELS_F32 = 1, FEEDRATE_PIXELS_F16 = 2 };
/// Channels last or first; usual: last for u8, first for f32 and f16.
enum { FEEDRATE_LAYOUT_USUAL = 0, FEEDRATE_LAYOUT_NHWC = 1, FEEDRATE_LAYOUT_NCHW = 2 };
/// JPEGs in full or, where the recipe shrinks them enough, at 1/2, 1/4 or 1/8 of their size: faster,
/// with slightly other pixels.
enum { FEEDRATE_DECODE_FULL = 0, FEEDRATE_DECODE_SCALED = 1 };
/// What becomes of images that do not fill a batch: a smaller one, in which every rank needs an
/// image, none, one completed with the epoch's first images, or a smaller one of one size on all
/// ranks, completed so.
enum {
  FEEDRATE_LAST_PARTIAL = 0,
  FEEDRATE_LAST_DROP = 1,
  FEEDRATE_LAST_WRAP = 2,
  FEEDRATE_LAST_PAD = 3
};
/// At a damaged sample: fail, take another one in its place, or leave it out.
enum { FEEDRATE_BAD_FAIL = 0, FEEDRATE_BAD_REPLACE = 1, FEEDRATE_BAD_SKIP = 2 };

typedef struct feedrate_loader_options {
  size_t size;
  const char* recipe;       // as in the shell, "imagenet-train:size=160"; default "none"
  uint32_t batch;           // images in a batch of this rank, at most 65,536; 64
  int32_t threads;          // that decode, at most 256; 0: the caller of feedrate_loader_next does;
                            // FEEDRATE_THREADS_AUTO, the default: the best number
  uint64_t epochs;          // of the whole run, those before `start` included, at most 1,000,000;
                            // 1; 0: without end
  feedrate_state start;     // {1, 0, 0}
  uint32_t rank, ranks;     // this process's share of each epoch, of at most 65,536; 0, 1
  int32_t shuffle;          // 1, 0 or -1: yes, unless the recipe only evaluates and window is 0; -1
  int32_t pixels;           // FEEDRATE_PIXELS_U8
  uint64_t window;          // shuffle among this many neighbours; 0: among all
  int32_t last;             // FEEDRATE_LAST_PARTIAL
  int32_t on_bad;           // FEEDRATE_BAD_FAIL
  uint64_t bad_budget;      // damaged samples to accept before failing anyway; 100
  const double* mean;       // of pixels 0 … 255, for f32 and f16: one, or one for each channel
  const double* deviation;  // the same
  uint32_t mean_count, deviation_count;
  uint32_t io_threads;      // that ask the disk for samples ahead of the others, at most 64; 1
  int32_t layout;           // FEEDRATE_LAYOUT_USUAL
  int32_t decode;           // FEEDRATE_DECODE_FULL
  int32_t crop_index;       // 1: use the index of 'feedrate index --crops' where there is one
  uint64_t shuffle_blocks;  // neighbours that stay together in a shuffle; 0: none
} feedrate_loader_options;

/// Sets `size` and every option to its default.
feedrate_status feedrate_loader_options_init(feedrate_loader_options* options, size_t size);

/// Starts to fill batches. The batches are the same bytes at any number of threads.
feedrate_status feedrate_loader_create(const feedrate_dataset* dataset,
                                       const feedrate_loader_options* options,
                                       feedrate_loader** loader);
/// Ends the threads. Batches stay valid.
void feedrate_loader_free(feedrate_loader* loader);

typedef struct feedrate_loader_info {
  size_t size;
  uint64_t batches_per_epoch;        // of this rank
  uint32_t height, width, channels;  // of every image in a batch
  uint32_t threads;                  // at most
} feedrate_loader_info;

feedrate_status feedrate_loader_get_info(const feedrate_loader* loader, feedrate_loader_info* info);

/// Waits for the next batch, without using the processor. FEEDRATE_END after the last one; after an
/// error the loader yields no more. Release every batch; as many as wanted can be kept.
feedrate_status feedrate_loader_next(feedrate_loader* loader, feedrate_batch** batch);
void feedrate_batch_release(feedrate_batch* batch);

/// The state behind the last batch handed out: `start` of a loader that goes on there.
feedrate_status feedrate_loader_get_state(feedrate_loader* loader, feedrate_state* state);

/// Ends the threads and waits for their end. A call of feedrate_loader_next in another thread
/// returns FEEDRATE_STOPPED within 50 ms or, without threads, after its batch. So do all later ones.
feedrate_status feedrate_loader_stop(feedrate_loader* loader);

typedef struct feedrate_batch_view {
  size_t size;
  // FEEDRATE_PIXELS_U8: RGB or grey; otherwise (pixel − mean) / deviation. FEEDRATE_LAYOUT_NHWC:
  // count × height × width × channels; FEEDRATE_LAYOUT_NCHW: count × channels × height × width.
  const void* images;
  const int64_t* labels;             // count: classes, from 0
  const int64_t* indices;            // count: where each image is in the dataset
  uint32_t count;                    // images
  uint32_t height, width, channels;  // of each
  int32_t pixels;                    // FEEDRATE_PIXELS_U8 …
  int32_t last_of_epoch;             // 1 or 0
  uint64_t number;                   // from 0, through all epochs
  uint64_t epoch;                    // from 0
} feedrate_batch_view;

/// What is in a batch, valid until it is released.
feedrate_status feedrate_batch_get(const feedrate_batch* batch, feedrate_batch_view* view);

typedef enum feedrate_part {
  FEEDRATE_IMAGES = 0,
  FEEDRATE_LABELS = 1,
  FEEDRATE_INDICES = 2
} feedrate_part;

/// A part of a batch as a tensor on the CPU, not copied. It may outlive batch and loader; the loader
/// writes there again only when the batch and all tensors of it are gone.
feedrate_status feedrate_batch_to_dlpack(const feedrate_batch* batch, feedrate_part part,
                                         struct DLManagedTensorVersioned** tensor);

#ifdef __cplusplus
}
#endif
