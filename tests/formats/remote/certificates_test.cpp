#include "formats/remote/certificates.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

TEST(UnitCertificates, the_first_place_that_there_is_is_taken) {
  ::unsetenv("SSL_CERT_FILE");
  const TempDirectory directory;
  const std::string absent = directory / "absent";
  const std::string second = directory / "second";
  const std::string third = directory / "third";
  std::ofstream(second) << "certificates";
  std::ofstream(third) << "others";
  EXPECT_EQ(certificates(std::array{absent.c_str(), second.c_str(), third.c_str()}), second);
  EXPECT_EQ(certificates(std::array{absent.c_str()}), "");
}

TEST(UnitCertificates, the_environment_names_another_file_even_one_that_is_not_there) {
  ::setenv("SSL_CERT_FILE", "/of/a/company.pem", 1);
  EXPECT_EQ(certificates(), "/of/a/company.pem");
  ::setenv("SSL_CERT_FILE", "", 1);
  EXPECT_NE(certificates(), "/of/a/company.pem");
  ::unsetenv("SSL_CERT_FILE");
}

}  // namespace
}  // namespace feedrate::formats
