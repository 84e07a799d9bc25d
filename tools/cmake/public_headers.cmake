# What `cmake --install` puts under include/feedrate/: the interface of the libraries, and the
# headers that it names. Everything else may change without notice.
set(FEEDRATE_PUBLIC_HEADERS
  formats/base/bytes.h formats/base/error.h formats/base/kind.h formats/base/random.h formats/base/shown_path.h
  formats/base/setting.h
  formats/codec.h formats/container.h formats/dataset.h formats/digests/digest.h formats/encoding.h formats/io/late_bytes.h
  formats/inspect/compare.h formats/inspect/survey.h formats/base/sweep.h formats/means/mean.h
  formats/pixels/image.h
  formats/pixels/resize.h formats/pixels/resize_axis.h formats/sample.h formats/sidecar.h
  formats/verify/verify.h
  converters/convert.h converters/downloads/fetch.h converters/source.h converters/synth.h
  loader/bad.h loader/batch.h loader/drive.h loader/loader.h loader/operation.h loader/order/draws.h
  loader/order/joined.h loader/order/picks.h loader/order/sample_draws.h loader/recipe_parameters.h
  loader/pixels/pixel_scale.h loader/pixels/view.h loader/recipe.h loader/settings.h
  loader/tuning/tuner.h
  loader/verdict.h
  trainer/backends/backend.h trainer/backends/product_engine.h
  trainer/graph/changes.h trainer/graph/graph.h trainer/graph/memory_plan.h
  trainer/graph/roofline.h trainer/loop/checkpoint.h trainer/loop/infer.h
  trainer/loop/train_recipe.h trainer/loop/trainer.h trainer/networks/network.h
  trainer/optimizers/loss_scale.h trainer/optimizers/optimizer.h trainer/schedules/schedule.h
  trainer/presets/preset.h)
