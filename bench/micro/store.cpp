#include "kube/runtime/store.hpp"
#include "micro.hpp"
#include "sample_pod.hpp"

namespace bench {
namespace {

constexpr int count = 1000;

std::vector<kube::Object> make_pods(int version) {
  std::vector<kube::Object> made;
  for (int number = 0; number < count; ++number) {
    made.push_back(*kube::Object::parse(sample_pod(number, version)));
    made.back().mutable_metadata().erase("managedFields");  // as informers do
  }
  return made;
}

std::string memory_note(const std::vector<kube::Object>& pods) {
  const std::size_t before = allocations().live_bytes;
  kube::Store store;
  for (const kube::Object& pod : pods) store.put(pod);
  const std::size_t held = (allocations().live_bytes - before) / pods.size();
  return std::to_string(held) + " bytes of heap per pod held, " + std::to_string(store.bytes() / pods.size()) +
         " of them its text";
}

}  // namespace

void measure_store(Runner& runner) {
  const auto pods = make_pods(1);
  std::vector<kube::ObjectKey> keys;
  for (const kube::Object& pod : pods) keys.push_back(pod.key());
  runner.measure(
      "store: put a new pod", count,
      [&] {
        kube::Store store;
        for (const kube::Object& pod : pods) store.put(pod);
      },
      memory_note(pods));

  kube::Store store;
  for (const kube::Object& pod : pods) store.put(pod);
  runner.measure("store: put a state that is known", count, [&] {
    for (const kube::Object& pod : pods) keep(store.put(pod));
  });
  runner.measure(
      "store: find", count,
      [&] {
        for (const kube::ObjectKey& key : keys) keep(store.find(key));
      },
      "parses the pod");
  runner.measure("store: uid", count, [&] {
    for (const kube::ObjectKey& key : keys) keep(store.uid(key));
  });

  kube::Store indexed;
  indexed.add_index("node", [](const kube::Object& pod, std::vector<std::string>& values) {
    values.emplace_back(kube::string_at(pod.spec(), {"nodeName"}));
  });
  for (const kube::Object& pod : pods) indexed.put(pod);
  runner.measure(
      "store: keys of an index value", 1, [&] { keep(indexed.keys("node", "milan-1")); }, "1 in 10 of 1,000 pods");
}

}  // namespace bench
