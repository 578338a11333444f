#include <boost/json.hpp>

#include "kube/k8s/object.hpp"
#include "micro.hpp"
#include "sample_pod.hpp"

namespace bench {

void measure_json(Runner& runner) {
  const std::string text = sample_pod(1);
  const kube::Object pod = *kube::Object::parse(text);
  const std::string note = "a pod of " + std::to_string(text.size()) + " bytes";
  runner.measure("JSON: parse into an Object", 1, [&] { keep(kube::Object::parse(text)); }, note);
  runner.measure("JSON: serialise an Object", 1, [&] { keep(pod.text()); }, note);
  runner.measure("JSON: copy an Object", 1, [&] { keep(kube::Object(pod)); }, note);
  runner.measure("JSON: read a field three deep", 1, [&] { keep(pod.annotation("bench.example.org/note")); });
}

}  // namespace bench
