#include "memory_limit.hpp"

#include <doctest/doctest.h>

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

TEST_CASE("the memory limit is the least of the control groups of the process") {
  std::string root = (std::filesystem::temp_directory_path() / "liqod-test-XXXXXX").string();
  REQUIRE(mkdtemp(root.data()) != nullptr);
  std::filesystem::create_directories(root + "/pods/one");
  const auto limit = [&root](const std::string& of, const std::string& is) {
    std::ofstream(root + of + "/memory.max") << is << "\n";
  };
  CHECK_FALSE(liqod::memory_limit("0::/pods/one\n", root));
  limit("/pods/one", "max");
  CHECK_FALSE(liqod::memory_limit("0::/pods/one\n", root));
  limit("/pods", "1000");
  CHECK(liqod::memory_limit("0::/pods/one\n", root) == 1000);
  limit("/pods/one", "2000");
  CHECK(liqod::memory_limit("1:cpu:/x\n0::/pods/one\n", root) == 1000);
  limit("", "500");
  CHECK(liqod::memory_limit("0::/pods/one\n", root) == 500);
  CHECK(liqod::memory_limit("0::/\n", root) == 500);
  for (const char* none : {"", "1:cpu:/pods\n", "0:"}) CHECK_FALSE(liqod::memory_limit(none, root));
  std::filesystem::remove_all(root);
}
