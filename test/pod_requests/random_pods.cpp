// Makes random pods and says what we reserve for them, for a comparison with Kubernetes' own PodRequests:
//     random_pods COUNT SEED    one JSON object a line: spec, limitRanges, overhead (what surrounds the pod), requests
// The table of how often each field was set goes to standard error.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include "core/quota/pod_requests.hpp"
#include "kube/base/random.hpp"

namespace {

using kube::json::array;
using kube::json::object;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  object pod() {
    used_.clear();
    object spec;
    array containers, init;
    for (std::int64_t i = random_.between(1, 4); i > 0; --i) containers.push_back(container("containers", i));
    for (std::int64_t i = random_.between(0, 3); i > 0; --i) {
      object made = container("initContainers", i);
      if (random_.chance(0.4)) {
        made["restartPolicy"] = "Always";
        used("initContainers.restartPolicy=Always");
      }
      init.push_back(std::move(made));
    }
    spec["containers"] = std::move(containers);
    if (!init.empty()) spec["initContainers"] = std::move(init);
    if (random_.chance(0.4)) {
      object resources;
      if (random_.chance(0.7)) resources["requests"] = amounts("resources.requests", pod_level_);
      if (random_.chance(0.6)) resources["limits"] = amounts("resources.limits", pod_level_);
      spec["resources"] = std::move(resources);
    }
    if (random_.chance(0.2)) spec["overhead"] = amounts("overhead", overhead_);
    for (const std::string& field : used_) ++counts_[field];
    return spec;
  }

  array limit_ranges() {
    array made;
    used_.clear();
    for (std::int64_t i = random_.chance(0.4) ? random_.between(1, 2) : 0; i > 0; --i) {
      object item{{"type", "Container"}};
      for (const char* field : {"default", "defaultRequest", "max", "min"})
        if (random_.chance(0.4)) item[field] = amounts(std::string("LimitRange.") + field, container_);
      array limits{std::move(item)};
      if (random_.chance(0.2)) limits.push_back(object{{"type", "Pod"}, {"max", object{{"cpu", "64"}}}});
      made.push_back(object{{"limits", std::move(limits)}});
    }
    for (const std::string& field : used_) ++counts_[field];
    return made;
  }

  std::optional<object> overhead() {
    if (!random_.chance(0.2)) return std::nullopt;
    used_.clear();
    object made = amounts("RuntimeClass.overhead", overhead_);
    for (const std::string& field : used_) ++counts_[field];
    return made;
  }

  void print_coverage(long pods) const {
    std::fprintf(stderr, "%-52s %8s %7s\n", "field", "pods", "share");
    for (const auto& [field, count] : counts_)
      std::fprintf(stderr, "%-52s %8ld %6.1f%%\n", field.c_str(), count,
                   100.0 * static_cast<double>(count) / static_cast<double>(pods));
  }

 private:
  using Names = std::initializer_list<const char*>;

  object container(const std::string& list, std::int64_t number) {
    object made{{"name", "c" + std::to_string(number)}, {"image", "img"}};
    object resources;
    if (random_.chance(0.6)) resources["requests"] = amounts(list + ".requests", container_);
    if (random_.chance(0.4)) resources["limits"] = amounts(list + ".limits", container_);
    if (!resources.empty() || random_.chance(0.5)) made["resources"] = std::move(resources);
    return made;
  }

  object amounts(const std::string& where, Names names) {
    object made;
    for (const char* name : names) {
      if (!random_.chance(0.5)) continue;
      made[name] = quantity();
      used(where + "." + name);
    }
    return made;
  }

  std::string quantity() {
    static constexpr const char* suffixes[] = {"",   "m",  "k",  "M", "G", "Ki", "Mi",  "Gi",
                                               "e1", "E0", "e3", "u", "n", "Ti", "e-1", ""};
    std::string text = std::to_string(random_.between(0, random_.chance(0.3) ? 3 : 2000));
    if (random_.chance(0.2)) text += "." + std::to_string(random_.between(0, 999));
    return text + suffixes[random_.between(0, std::size(suffixes) - 1)];
  }

  void used(std::string field) { used_.insert(std::move(field)); }

  static constexpr Names container_ = {"cpu",           "memory",         "ephemeral-storage",
                                       "hugepages-2Mi", "nvidia.com/gpu", "example.com/thing"};
  static constexpr Names pod_level_ = {"cpu", "memory", "hugepages-2Mi"};
  static constexpr Names overhead_ = {"cpu", "memory"};
  kube::Random random_;
  std::set<std::string> used_;
  std::map<std::string, long> counts_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: random_pods COUNT SEED\n");
    return 2;
  }
  const long pods = std::atol(arguments[1]);
  Generator generator(static_cast<std::uint64_t>(std::atoll(arguments[2])));
  for (long i = 0; i < pods; ++i) {
    object line{{"spec", generator.pod()}, {"limitRanges", generator.limit_ranges()}};
    liqo::core::PodAdditions surroundings;
    for (const auto& spec : line["limitRanges"].get_array())
      surroundings.limit_ranges.push_back(liqo::core::limit_range_defaults(spec.get_object()).value());
    if (auto overhead = generator.overhead()) {
      surroundings.overhead = liqo::core::read_resources(*overhead).value();
      line["overhead"] = std::move(*overhead);
    }
    auto needs = liqo::core::read_pod_needs(line["spec"].get_object()).value();
    liqo::core::settle(needs, surroundings);
    line["requests"] = liqo::core::write_resources(liqo::core::pod_requests(needs));
    std::cout << kube::json::serialize(line) << "\n";
  }
  generator.print_coverage(pods);
}
