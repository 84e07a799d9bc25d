#pragma once
// MATLAB version 5 files, as far as the ILSVRC devkit's meta.mat needs them: numbers, text, structs
// and cells, plain or compressed.
//
//   header, 128 bytes │ element │ element │ …
//   element:  u32le type │ u32le bytes │ data │ zeros up to the next 8 bytes
//     small:  u16le type │ u16le bytes (1 … 4) │ data, 4 bytes
//   array:    element of type 14: flags │ dimensions │ name │ what its class says, elements again

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace feedrate::converters {

/// An array with all that is in it. Values are in the file's order: down the columns.
struct MatArray {
  enum class Kind : std::uint8_t { numbers, text, structs, cells };

  Kind kind = Kind::numbers;
  std::string name;                       // of a variable; empty inside another array
  std::vector<std::uint32_t> dimensions;  // at least two
  std::vector<double> numbers;            // integers beyond 2^53 are rounded
  std::string text;                       // UTF-8
  std::vector<std::string> fields;        // names, of structs
  std::vector<MatArray> elements;  // of structs: all fields of one, then of the next; of cells
};

/// The variables of a file. One thread. `place` names it in errors. Throws Error naming the byte on
/// damage, for what this reader does not know (sparse, complex, objects, functions, version 7.3)
/// and for files that unpack to more than 16 MiB or 2^18 arrays.
std::vector<MatArray> read_mat_file(formats::Bytes file, const std::string& place);

/// Such a file of compressed variables, of numbers, text and structs. Whole numbers take the
/// smallest integer type that holds all of an array, as MATLAB stores them.
formats::Buffer write_mat_file(const std::vector<MatArray>& variables);

}  // namespace feedrate::converters
