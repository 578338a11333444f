// Takes out of a JSON text what is nested too deep to be read, without reading it.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace kube::wire {

/// Copies a text that comes in pieces of any size; in place of each object and array below so many levels stands null.
/// What is kept is copied unchanged, so that a fault there stays one; what is cut is not checked.
class DeepCut {
 public:
  explicit DeepCut(std::size_t levels) : levels_(levels) {}

  /// Appends to `out` what is left of the next piece.
  void feed(std::string_view bytes, std::string& out);
  /// Which elements of the array on the second level (the items of a list), counted from 0 among those that are objects
  /// or arrays, have lost something.
  const std::set<std::size_t>& cut_items() const { return cut_items_; }

 private:
  std::size_t levels_;
  std::size_t depth_ = 0, items_ = 0;
  bool in_string_ = false, escaped_ = false;
  bool in_items_ = false;  ///< the container on the second level is an array
  std::set<std::size_t> cut_items_;
};

}  // namespace kube::wire
