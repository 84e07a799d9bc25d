#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {

const Fields& glossary() {
  static const Fields terms{
      {"Loader thread",
       "A CPU thread that reads and decodes images while the trainer computes. With 0 loader "
       "threads, the "
       "trainer loads each batch itself, between two steps."},
      {"Worker",
       "A process of PyTorch's DataLoader that makes batches while the trainer computes. With 0 "
       "workers, the "
       "script makes each batch itself, between two steps."},
      {"Format × codec",
       "How the dataset is stored: the container (lmdb, recordio, …) × the codec of its images "
       "(raw pixels, "
       "png, jpeg, packed). Images are decoded on the CPU unless marked \"decoded on the "
       "device\"."},
      {"Supply", "Images/s of the loader alone."},
      {"Demand", "Images/s of the trainer alone, with batches that are already in memory."},
      {"Delivered", "Images/s of loader and trainer together, as in real training."},
      {"Predicted", "The delivered rate, computed from supply and demand before it was measured."},
      {"Stall",
       "The share of training time in which the trainer has no batch. With 0 loader threads or "
       "workers: the "
       "share that it spends loading. The first step is not counted."},
      {"Spread",
       "How much the repeats of one measurement differ: (fastest − slowest) / median. Smaller "
       "differences "
       "are noise."},
      {"95 % interval",
       "The range that holds the mean rate with 95 % confidence (Student's t; at least 3 "
       "repeats)."},
      {"Shared cores", "The slowdown of the trainer because loader threads use its cores."},
      {"Limit",
       "The bottleneck: the trainer, a stage of loading (read, decode, augment), the upload to the "
       "device, "
       "or the cores."}};
  return terms;
}

}  // namespace feedrate::tools
