#include "tools/console/fields.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/schema.h"

namespace feedrate::tools {

struct Wheel {
  unsigned spokes = 0;
};
template <>
inline constexpr Heading heading_of<Wheel>{"wheel", "What turns."};

struct Bell {
  bool loud = false;
};

struct Bicycle {
  std::string name;
  double weight = 0;
  std::optional<double> speed;
  std::optional<std::uint64_t> owner;
  std::optional<std::optional<int>> price;  // not for sale, or for a price that is not known
  std::vector<Wheel> wheels;
  std::map<std::int32_t, unsigned> gears;
  Bell bell;
};
template <>
inline constexpr Heading heading_of<Bicycle>{"bicycle", "What `ride` prints."};

template <class WheelType, class Field>
requires std::same_as<std::remove_const_t<WheelType>, Wheel>
void for_each_field(WheelType& wheel, const Field& field) {
  field("spokes", wheel.spokes, {"in it"});
}
template <class BellType, class Field>
requires std::same_as<std::remove_const_t<BellType>, Bell>
void for_each_field(BellType& bell, const Field& field) { field("loud", bell.loud, {"a|b"}); }
template <class Field>
void for_each_field(const Bicycle& bicycle, const Field& field) {
  field("name", bicycle.name, {"of the frame", Unit{sha256_unit}});
  field("weight", bicycle.weight, {"without a rider", Unit{"kg"}, Digits{1}});
  field("speed", bicycle.speed, {"now", Null{"parked"}});
  field("owner", bicycle.owner, {"their number", Absent{"lost"}});
  field("price", bicycle.price, {"new", Null{"secret"}, Absent{"not for sale"}});
  field("wheels", bicycle.wheels, {"from the front"});
  field("gears", bicycle.gears, {"teeth of each"});
  field("bell", bicycle.bell, {"on the bar"});
}

namespace {

TEST(UnitFields, are_written_in_order_with_null_and_without_absent_keys) {
  Bicycle bicycle;
  bicycle.name = "a\xff";
  bicycle.weight = 12.345;
  EXPECT_EQ(json_line(json_of(bicycle)),
            R"({"name":"a�","weight":12.3,"speed":null,"wheels":[],"gears":{},)"
            R"("bell":{"loud":false}})");
  bicycle = {.name = "b",
             .weight = 1,
             .speed = 2.125,
             .owner = 3,
             .price = std::optional<int>(),
             .wheels = {{.spokes = 36}},
             .gears = {{2, 18}, {10, 11}},
             .bell = {.loud = true}};
  EXPECT_EQ(json_line(json_of(bicycle)),
            R"({"name":"b","weight":1.0,"speed":2.125,"owner":3,"price":null,)"
            R"("wheels":[{"spokes":36}],"gears":{"2":18,"10":11},"bell":{"loud":true}})");
}

TEST(UnitFields, are_read_in_their_own_type_and_range_only) {
  const auto read = [](const char* text) {
    Wheel wheel;
    for_each_field(wheel, ReadJson(nlohmann::ordered_json::parse(text)));
    return wheel.spokes;
  };
  EXPECT_EQ(read(R"({"spokes": 36, "colour": "red"})"), 36U);
  testing::expect_error([&] { read(R"({})"); }, {"lacks the key 'spokes'"});
  testing::expect_error([&] { read(R"({"spokes": -1})"); }, {"spokes", "whole number", "-1"});
  testing::expect_error([&] { read(R"({"spokes": 1.5})"); }, {"spokes", "1.5"});
  testing::expect_error([&] { read(R"({"spokes": null})"); }, {"spokes", "null"});
  testing::expect_error([&] { read(R"({"spokes": 4294967296})"); }, {"4294967295"});
}

TEST(UnitFields, make_a_table_for_each_struct_with_a_name) {
  const std::vector objects{description_of(Bicycle{})};
  EXPECT_EQ(schema_markdown(objects), R"(## bicycle

What `ride` prints.

| key | value | meaning | null, or absent |
|---|---|---|---|
| `name` | text, SHA-256 | of the frame |  |
| `weight` | number, kg | without a rider |  |
| `speed` | number | now | parked |
| `owner` | whole number | their number | absent: lost |
| `price` | whole number | new | secret; absent: not for sale |
| `wheels` | list of [wheel](#wheel) | from the front |  |
| `gears` | object of whole number | teeth of each |  |
| `bell` | object | on the bar |  |
| `bell.loud` | true or false | a\|b |  |

## wheel

What turns.

| key | value | meaning | null, or absent |
|---|---|---|---|
| `spokes` | whole number | in it |  |
)");
}

TEST(UnitFields, make_a_schema_that_is_closed) {
  const std::vector objects{description_of(Bicycle{})};
  const auto schema = nlohmann::json::parse(schema_json(objects));
  EXPECT_EQ(schema.at("$ref"), "#/$defs/bicycle");
  const auto& bicycle = schema.at("$defs").at("bicycle");
  EXPECT_EQ(bicycle.at("additionalProperties"), false);
  EXPECT_EQ(bicycle.at("required"),
            nlohmann::json({"name", "weight", "speed", "wheels", "gears", "bell"}));
  const auto& keys = bicycle.at("properties");
  EXPECT_EQ(keys.at("name").at("pattern"), "^([0-9a-f]{64})?$");
  EXPECT_EQ(keys.at("weight").at("description"), "kg; without a rider");
  EXPECT_EQ(keys.at("speed").at("type"), nlohmann::json({"number", "null"}));
  EXPECT_EQ(keys.at("price").at("description"), "new; null: secret; absent: not for sale");
  EXPECT_EQ(keys.at("wheels").at("items").at("$ref"), "#/$defs/wheel");
  EXPECT_EQ(keys.at("gears").at("additionalProperties").at("type"), "integer");
  EXPECT_EQ(keys.at("bell").at("properties").at("loud").at("type"), "boolean");
}

}  // namespace
}  // namespace feedrate::tools
