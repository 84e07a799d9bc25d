#pragma once
// What the parts of the Python module share. Everything here needs a thread that Python knows and
// that holds the GIL, where there is one. A free-threaded Python calls from several such threads at
// once.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/error.h"
#include "formats/dataset.h"
#include "loader/order/picks.h"

namespace feedrate::tools {

/// A dataset and what reads it: loaders keep it open.
struct OpenDataset {
  std::shared_ptr<const formats::Dataset> data;
  std::vector<loader::MixMember> members{};  // of a mix
};

/// What an epoch holds, where it is not every sample once.
struct EpochPicks {
  std::shared_ptr<const loader::Picks> picks;
  bool drawn = false;     // by weight or in groups
  std::string note = {};  // of samples that are left out
};

/// Says which Python exceptions C++ exceptions become.
void add_errors(nanobind::module_& module);
void add_dataset(nanobind::module_& module);
void add_device_decoder(nanobind::module_& module);
void add_files(nanobind::module_& module);
void add_picks(nanobind::module_& module);
void add_settings(nanobind::module_& module);
void add_labels(nanobind::module_& module);
void add_memory(nanobind::module_& module);
void add_progress(nanobind::module_& module);
void add_run(nanobind::module_& module);
void add_stand_ins(nanobind::module_& module);

/// While it lives, this thread is outside Python, without the GIL, so that others run. A daemon
/// thread that comes back when the interpreter ends would be unwound by it, which C++ does not
/// survive; so leave_python() waits until all are back, and from then on threads stay inside.
class OthersRun {
 public:
  OthersRun();
  ~OthersRun();
  OthersRun(const OthersRun&) = delete;
  OthersRun& operator=(const OthersRun&) = delete;

 private:
  PyThreadState* own_ = nullptr;
};
/// Whether the interpreter is about to end.
bool leaving_python();
void add_exit(nanobind::module_& module);

/// A value that is not of the setting's kind; Python calls that a TypeError.
class WrongType : public formats::Error {
 public:
  using Error::Error;
};

/// Names and messages may hold any bytes: those that are not UTF-8 become what os.fsdecode makes of
/// them.
nanobind::str text(std::string_view bytes);
/// Becomes a Python exception of that type once this thread is inside Python again.
class Refusal : public std::runtime_error {
 public:
  Refusal(PyObject* type, const std::exception& error)
      : std::runtime_error(error.what()), type_(type) {}
  PyObject* type() const noexcept { return type_; }

 private:
  PyObject* type_;
};

/// Returns what `make` returns. An Error of `make` is about an option, and becomes a ValueError.
template <class Make>
decltype(auto) checked(Make make) {
  try {
    return make();
  } catch (const WrongType& error) {
    throw Refusal(PyExc_TypeError, error);
  } catch (const formats::Error& error) {
    throw Refusal(PyExc_ValueError, error);
  }
}

/// `dims` long, dense, and owned by `owner`: any library can take it by DLPack.
nanobind::object array(void* first, std::initializer_list<std::size_t> dims,
                       nanobind::dlpack::dtype type, nanobind::handle owner);

/// A copy of the values of an array that has been pickled; `type` is the name of theirs.
nanobind::object copied(const nanobind::bytes& values, const std::vector<std::size_t>& dims,
                        const std::string& type);

/// array[first:first + count], or array[first] where there is no count: the same memory.
nanobind::object part(const nanobind::ndarray<>& of, std::size_t first,
                      std::optional<std::size_t> count);

}  // namespace feedrate::tools
