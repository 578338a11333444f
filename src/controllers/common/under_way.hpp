// A mark of what a coroutine is doing, so that no second one begins the same meanwhile.
// Tested by test/unit/controllers/offloading/trust_copies_test.cpp.
#pragma once

#include <set>
#include <utility>

namespace liqo::controllers {

/// Holds a key in a set until the coroutine ends, even if that is cancelled. The set must live longer.
template <class Key>
class UnderWay {
 public:
  UnderWay(std::set<Key>& all, Key key) : all_(all), key_(std::move(key)) { all_.insert(key_); }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { all_.erase(key_); }

 private:
  std::set<Key>& all_;
  Key key_;
};

}  // namespace liqo::controllers
