#pragma once
// Descriptions of JSON objects (fields.h), as programs and people read them.

#include <span>
#include <string>

#include "tools/console/fields.h"

namespace feedrate::tools {

/// A JSON Schema (2020-12) with a definition for each object and for each section in it. A single
/// object is also what the schema itself holds to. Objects are closed: they have no other keys.
std::string schema_json(std::span<const Description> objects);

/// A table for each object and for each section in it, in Markdown.
std::string schema_markdown(std::span<const Description> objects);

}  // namespace feedrate::tools
