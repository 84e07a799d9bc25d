#pragma once
// The JSON keys of a published rate, for `advise` and `list`.

#include "tools/console/fields.h"
#include "tools/lab/advise/published_rate.h"

namespace feedrate::tools {

template <>
inline constexpr Heading heading_of<PublishedRate>{"published_rate",
                                                   "A rate that others have published."};

template <class Field>
void for_each_field(const PublishedRate& rate, const Field& field) {
  field("device", rate.device, {"its name"});
  field("network", rate.network, {"that it trained"});
  field("precision", unless_empty(rate.precision),
        {"as published", Null{"the source does not say"}});
  field("devices", rate.devices, {"that trained together"});
  field("batch", only_if(rate.batch != 0, rate.batch),
        {"of each", Null{"the source does not say"}});
  field("images_per_second", rate.images_per_second,
        {"of all together", Unit{"images/s"}, Digits{1}});
  field("date", unless_empty(rate.date), {"of the publication", Null{"not given"}});
  field("source", unless_empty(rate.source), {"who published it, and where", Null{"not given"}});
}

}  // namespace feedrate::tools
