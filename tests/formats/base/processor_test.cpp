#include "formats/base/processor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

// Sets FEEDRATE_INSTRUCTIONS, and puts back what it was.
class Limit {
 public:
  Limit() {
    if (const char* text = std::getenv(name)) before_ = text;
  }
  ~Limit() {
    if (before_) {
      set(before_->c_str());
    } else {
      unsetenv(name);
    }
  }
  void set(const char* text) { setenv(name, text, 1); }
  void remove() { unsetenv(name); }

 private:
  static constexpr const char* name = "FEEDRATE_INSTRUCTIONS";
  std::optional<std::string> before_;
};

TEST(UnitProcessor, has_what_the_environment_leaves_it) {
  using enum Instructions;
  Limit limit;
  limit.remove();
  const bool old = processor_has({ssse3}), current = processor_has({avx2}),
             latest = processor_has({avx512bw});
  EXPECT_EQ(processor_has({avx2, avx512bw}), current && latest) << "all that is wanted";
  EXPECT_TRUE(processor_has({}));
  limit.set("avx2");
  EXPECT_EQ(processor_has({ssse3}), old);
  EXPECT_EQ(processor_has({avx2}), current);
  EXPECT_FALSE(processor_has({avx512bw}));
  limit.set("baseline");
  EXPECT_FALSE(processor_has({ssse3}));
  EXPECT_FALSE(processor_has({avx2}));
}

TEST(UnitProcessor, an_unknown_limit_is_refused_where_there_is_something_to_limit) {
  Limit limit;
  limit.remove();
  if (!processor_has({Instructions::ssse3})) GTEST_SKIP() << "nothing beyond the baseline";
  limit.set("sse9");
  testing::expect_error([] { processor_has({Instructions::ssse3}); },
                        {"FEEDRATE_INSTRUCTIONS", "baseline", "avx2", "sse9"});
}

}  // namespace
}  // namespace feedrate::formats
