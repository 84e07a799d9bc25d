#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {

const Fields& glossary() {
  static const Fields terms{
      {"Loader thread",
       "A loader thread is a CPU thread that reads and decodes images while the trainer computes. "
       "With none, the trainer loads each batch itself, between two steps."},
      {"Worker",
       "A worker is a process of a script's DataLoader that makes batches while the script's loop "
       "computes. With none, the loop makes each batch itself, between two steps."},
      {"Format × codec",
       "A format is how the dataset is stored: the container (lmdb, recordio, …) × the codec of "
       "its images (raw pixels, png, jpeg, packed). The loader's threads decode them, unless it "
       "says "
       "that the device does."},
      {"Supply", "Images/s that the loader gives without a trainer."},
      {"Demand", "Images/s that the trainer takes when its batches are already in memory."},
      {"Delivered",
       "Images/s that the trainer gets when both run together, as in a real training."},
      {"Predicted", "Delivered, computed from supply and demand before it was measured."},
      {"Stall",
       "The share of training time in which the trainer has no batch: it waits or, with 0 loader "
       "threads or workers, does the loading itself. The first step is not counted."},
      {"Spread",
       "How far repeats of one measurement lie apart: (fastest − slowest) / median. Differences "
       "within the spread are noise. A single repeat has none."},
      {"95 % interval",
       "Where the mean rate lies, judging by at least three repeats (Student's t)."},
      {"Shared cores",
       "Time in which the trainer neither waits nor has all its cores, because the loader uses "
       "some of them."},
      {"Limit",
       "What must become faster for training to become faster: the trainer, the loader or its "
       "longest stage (read, decode, augment), the upload to the device, or the cores."}};
  return terms;
}

}  // namespace feedrate::tools
