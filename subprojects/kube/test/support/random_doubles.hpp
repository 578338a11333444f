// Floating-point numbers of every size, and their digits.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace kube::testing {

/// Finite numbers: a third with any bits, a third between 0 and 1000, a third quotients, as measurements are.
inline std::vector<double> random_doubles(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<double> made;
  while (made.size() < count) {
    double number = std::bit_cast<double>(random());
    if (made.size() % 3 == 1) number = std::uniform_real_distribution(0.0, 1000.0)(random);
    if (made.size() % 3 == 2) number = double(random() % 1000) / double(1 + random() % 1000);
    if (std::isfinite(number)) made.push_back(number);
  }
  return made;
}

/// The shortest digits that are read as this number alone.
inline std::string digits_of(double number) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, number).ptr};
}

}  // namespace kube::testing
