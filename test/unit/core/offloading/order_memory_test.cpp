// The memory of a provider about one ShadowPod: waits, doubts, and what was reported when.
#include "core/offloading/order_memory.hpp"

#include "../objects.hpp"
#include "core/offloading/order.hpp"
#include "core/offloading/provider_pod.hpp"

namespace liqo::core {
namespace {

using namespace testing;
using namespace std::chrono_literals;

const kube::TimePoint begin{1h};

kube::Object shadow(std::string_view uid = "s1") {
  kube::Object made = reflected("ShadowPod", uid, "u1", R"({"phase": "Unknown"})");
  made.tree()["apiVersion"] = "offloading.liqo.io/v1beta1";
  made.mutable_spec()["pod"] = parse_value(R"({"containers": [{"name": "main", "image": "img:v1"}]})");
  return made;
}

kube::Object pod(const kube::Object& owner, std::string_view uid = "p1") {
  kube::Object made = forge_provider_pod(owner);
  made.mutable_metadata()["uid"] = uid;
  return made;
}

/// A memory of the ShadowPod, without a Pod.
OrderMemory fresh() {
  OrderMemory memory;
  memory.observe(shadow(), nullptr, begin, false);
  return memory;
}

}  // namespace

TEST_CASE("another ShadowPod of the name is remembered from the beginning") {
  OrderMemory memory;
  CHECK(memory.uid().empty());
  memory.observe(shadow(), nullptr, begin, true);
  CHECK(memory.uid() == "s1");
  CHECK(memory.seen().inherited);
  memory.note_created(begin);
  CHECK(memory.may_report(begin));
  memory.observe(shadow(), nullptr, begin + 1s, true);
  CHECK(memory.seen().pod_created);
  CHECK_FALSE(memory.may_report(begin + 1s));

  memory.observe(shadow("s2"), nullptr, begin + 1s, false);
  CHECK(memory.uid() == "s2");
  CHECK_FALSE(memory.seen().pod_created);
  CHECK_FALSE(memory.seen().inherited);
  CHECK(memory.may_report(begin + 1s));
}

TEST_CASE("a Pod that cannot be taken is waited for until it is created") {
  OrderMemory memory = fresh();
  CHECK(memory.await_taking(begin) == 0s);
  CHECK(memory.await_taking(begin + 20s) == 20s);
  memory.note_created(begin + 21s);
  CHECK(memory.await_taking(begin + 22s) == 0s);
}

TEST_CASE("a Pod that was created may be missing in the cache for a moment") {
  OrderMemory memory = fresh();
  memory.note_created(begin);
  CHECK(memory.left_unseen(begin + 1s) == unseen_time - 1s);
  CHECK(memory.left_unseen(begin + unseen_time) == 0s);
  memory.note_vanished();
  CHECK_FALSE(memory.seen().pod_created);
}

TEST_CASE("a create without an answer is in doubt for a time where it timed out, and always tried") {
  OrderMemory memory = fresh();
  memory.doubt_create(begin, false);
  memory.observe(shadow(), nullptr, begin, false);
  CHECK(memory.seen().create_tried);
  CHECK_FALSE(memory.seen().create_in_doubt);
  memory.doubt_create(begin, true);
  CHECK(memory.left_of_doubt(begin + 10s) == create_doubt - 10s);
  memory.observe(shadow(), nullptr, begin + create_doubt - 1s, false);
  CHECK(memory.seen().create_in_doubt);
  memory.observe(shadow(), nullptr, begin + create_doubt, false);
  CHECK_FALSE(memory.seen().create_in_doubt);
  CHECK(memory.seen().create_tried);
}

TEST_CASE("a node is silent once it was waited for in vain, for this very Pod") {
  OrderMemory memory = fresh();
  const kube::Object first = pod(shadow()), second = pod(shadow(), "p2");
  CHECK(memory.await_node("p1", begin) == node_patience);
  CHECK(memory.await_node("p1", begin + 10s) == node_patience - 10s);
  memory.observe(shadow(), &first, begin + node_patience - 1s, false);
  CHECK_FALSE(memory.seen().node_silent);
  memory.observe(shadow(), &first, begin + node_patience, false);
  CHECK(memory.seen().node_silent);
  memory.observe(shadow(), &second, begin + node_patience, false);
  CHECK_FALSE(memory.seen().node_silent);
  memory.observe(shadow(), nullptr, begin + node_patience, false);
  CHECK_FALSE(memory.seen().node_silent);
  CHECK(memory.await_node("p2", begin + 50s) == node_patience);
}

TEST_CASE("a confirmation and the bounds of the twin are waited for from the first look on") {
  OrderMemory memory = fresh();
  CHECK(memory.await_confirmation(begin) == confirm_patience);
  CHECK(memory.await_confirmation(begin + 1min) == confirm_patience - 1min);
  CHECK(memory.await_confirmation(begin + 10min) < 0s);

  CHECK(memory.await_bounds(begin) == 0s);
  CHECK(memory.await_bounds(begin + 7s) == 7s);
  memory.note_created(begin + 8s);
  CHECK(memory.await_bounds(begin + 9s) == 0s);
}

TEST_CASE("what is told changes all the time, and is told at intervals") {
  OrderMemory memory = fresh();
  CHECK(memory.may_report(begin));
  CHECK_FALSE(memory.may_report(begin + 29s));
  CHECK(memory.may_report(begin + 30s));
  CHECK_FALSE(memory.may_report(begin + 59s));

  CHECK(memory.may_report_no_room(begin));
  CHECK_FALSE(memory.may_report_no_room(begin + 59s));
  CHECK(memory.may_report_no_room(begin + 60s));
}

TEST_CASE("a refused resize pauses for its amounts, until it is tried again, or the bounds of the twin change") {
  OrderMemory memory = fresh();
  CHECK(memory.left_of_resize_pause("2cpu", begin) == 0s);
  CHECK(memory.note_resize_refused("2cpu", true, begin));
  CHECK(memory.is_resize_short());
  CHECK(memory.left_of_resize_pause("2cpu", begin + 20s) == 40s);
  CHECK(memory.left_of_resize_pause("3cpu", begin + 20s) == 0s);
  CHECK(memory.left_of_resize_pause("2cpu", begin + resize_pause) == 0s);

  // Refused again, it is no news.
  CHECK_FALSE(memory.note_resize_refused("2cpu", false, begin + resize_pause));
  CHECK_FALSE(memory.is_resize_short());
  CHECK(memory.left_of_resize_pause("2cpu", begin + resize_pause) == resize_pause);
  memory.end_resize_pause();
  CHECK(memory.left_of_resize_pause("2cpu", begin + resize_pause) == 0s);
  CHECK_FALSE(memory.note_resize_refused("2cpu", false, begin + resize_pause));

  CHECK(memory.note_resize_refused("3cpu", false, begin + 2min));
  memory.note_resized();
  CHECK(memory.left_of_resize_pause("3cpu", begin + 2min) == 0s);
  CHECK(memory.note_resize_refused("3cpu", false, begin + 2min));
}

}  // namespace liqo::core
