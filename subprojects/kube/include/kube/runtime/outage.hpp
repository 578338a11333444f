// One line about a server that cannot be reached, whatever many informers find that out.
#pragma once

#include <set>

#include "kube/base/failure.hpp"

namespace kube {

/// Who cannot reach a server at the moment. One thread.
class Outage {
 public:
  /// Whether this failure says that the server was not reached, and not what it answered.
  static bool is_one(const Failure& failure) {
    return failure.code() == Errc::connect || failure.code() == Errc::closed || failure.code() == Errc::timeout ||
           failure.code() == Errc::tls;
  }
  /// Notes one that cannot reach it; returns whether it is the first.
  bool begin(const void* who) { return away_.insert(who).second && away_.size() == 1; }
  /// Notes that one reaches it again; returns whether it was the last that did not.
  bool end(const void* who) { return away_.erase(who) > 0 && away_.empty(); }

 private:
  std::set<const void*> away_;
};

}  // namespace kube
