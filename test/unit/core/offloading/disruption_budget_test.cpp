// The copies of PodDisruptionBudgets, and the proof that clusters together never evict more than home allows.
#include "core/offloading/disruption_budget.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"

namespace liqo::core {
namespace {

namespace json = kube::json;

const kube::WallTime noon = kube::parse_time("2026-11-30T12:00:00Z").value();

kube::Object budget(std::int64_t allowed, const std::map<std::string, std::string>& disrupted = {}) {
  kube::Object made = kube::Object::make(api::kinds::disruption_budgets, {"shop", "quorum"});
  made.mutable_metadata()["generation"] = 2;
  made.mutable_spec() = json::object{{"maxUnavailable", "30%"},
                                     {"selector", json::object{{"matchLabels", json::object{{"app", "quorum"}}}}}};
  json::object entries;
  for (const auto& [name, at] : disrupted) entries[name] = at;
  made.mutable_status() =
      json::object{{"observedGeneration", 2}, {"disruptionsAllowed", allowed}, {"disruptedPods", std::move(entries)}};
  return made;
}

std::vector<BudgetPod> three_ready() { return {{"q-0", true}, {"q-1", true}, {"q-2", true}}; }

BudgetCopy copy_of(std::int64_t min_available, PodNames wanted = {}, std::int64_t healthy = 3) {
  return {.min_available = min_available,
          .is_in_force = true,
          .healthy = healthy,
          .wanted = std::move(wanted),
          .leaving = {}};
}

}  // namespace

TEST_CASE("a copy keeps all pods there until the provider asks for evictions that home allows") {
  struct Row {
    std::string_view title;
    BudgetView view;
    PodNames lend;
    std::int64_t min_available;
    PodNames take_back;
  };
  for (const Row& row : {
           Row{"the first copy", {.pods = three_ready(), .allowed = 1, .lent = {}, .copy = {}}, {}, 3, {}},
           Row{"nobody asks", {.pods = three_ready(), .allowed = 3, .lent = {}, .copy = copy_of(3)}, {}, 3, {}},
           Row{"asked, and home allows one",
               {.pods = three_ready(), .allowed = 1, .lent = {}, .copy = copy_of(3, {"q-1", "q-2"})},
               {"q-1"},
               3,
               {}},
           Row{"asked, and home allows none",
               {.pods = three_ready(), .allowed = 0, .lent = {}, .copy = copy_of(3, {"q-1"})},
               {},
               3,
               {}},
           Row{"lent", {.pods = three_ready(), .allowed = 0, .lent = {"q-1"}, .copy = copy_of(3, {"q-1"})}, {}, 2, {}},
           Row{"of no use any more",
               {.pods = three_ready(), .allowed = 0, .lent = {"q-1"}, .copy = copy_of(2)},
               {},
               3,
               {"q-1"}},
           Row{"without a copy", {.pods = three_ready(), .allowed = 0, .lent = {"q-1"}, .copy = {}}, {}, 3, {"q-1"}},
           Row{"asked for a pod that is not there, and one that is not ready",
               {.pods = {{"q-0", false}}, .allowed = 2, .lent = {}, .copy = copy_of(1, {"q-0", "else"}, 0)},
               {},
               1,
               {}},
           Row{"a pod that has gone at home is still there",
               {.pods = {{"q-0", true}, {"q-1", true}}, .allowed = 0, .lent = {}, .copy = copy_of(3)},
               {},
               3,
               {}},
           Row{"more pods than a number can say are bounded",
               {.pods = {{"q-0", true}}, .allowed = 0, .lent = {}, .copy = copy_of(1, {}, 1LL << 40)},
               {},
               (1LL << 31) - 1,
               {}},
       }) {
    CAPTURE(row.title);
    const BudgetPlan plan = plan_budget(row.view);
    CHECK(plan.lend == row.lend);
    CHECK(plan.min_available == row.min_available);
    CHECK(plan.take_back == row.take_back);
  }
}

TEST_CASE("evictions are taken back once the provider allows none and home knows of all") {
  BudgetView view{.pods = three_ready(), .allowed = 0, .lent = {"q-1"}, .copy = copy_of(2)};
  BudgetPlan plan = plan_budget(view);
  const PodNames all{"q-0", "q-1", "q-2"};
  CHECK(!may_take_back(view, plan, all));
  view.copy = copy_of(3);
  plan = plan_budget(view);
  CHECK(may_take_back(view, plan, all));
  CHECK(!may_take_back(view, plan, {"q-0", "q-1"}));
  view.copy->leaving = {"q-2"};
  CHECK(!may_take_back(view, plan, all));
  view.pods[2].is_ready = false;
  CHECK(may_take_back(view, plan, all));
  view.copy->is_in_force = false;
  CHECK(!may_take_back(view, plan, all));
  // Without a copy, too, home has to know of all that is ready no longer.
  view.copy.reset();
  CHECK(may_take_back(view, plan, {"q-0", "q-1"}));
  CHECK(!may_take_back(view, plan, {"q-0"}));
}

TEST_CASE("an eviction is lent in the status at home, like one of an API server but in the future") {
  CHECK(allowed_now(budget(2)) == 2);
  kube::Object stale = budget(2);
  stale.mutable_metadata()["generation"] = 3;
  CHECK(allowed_now(stale) == 0);

  const kube::Object lent = lend(budget(2), {"q-1"}, noon);
  CHECK(allowed_now(lent) == 1);
  CHECK(lent_pods(lent, three_ready(), noon) == PodNames{"q-1"});
  CHECK(lent_pods(lent, three_ready(), noon + std::chrono::hours(2)).empty());
  CHECK(lent_pods(lent, {{"q-0", true}}, noon).empty());
  const kube::Object evicted = budget(0, {{"q-1", "2026-11-30T12:00:03Z"}});
  CHECK(lent_pods(evicted, three_ready(), noon).empty());
  CHECK(lent_pods(take_back(lent, {"q-1"}), three_ready(), noon).empty());
  CHECK(lend(budget(0), {"q-1"}, noon).text().contains("\"disruptionsAllowed\":0"));
}

TEST_CASE("a copy is an integer that does not keep unhealthy pods, and has nothing else of the budget") {
  kube::Object home = budget(1);
  home.set_label("app.kubernetes.io/instance", "shop");
  const kube::Object copy = forge_budget_copy(home, {.local = "rome", .remote = "milan"}, "shop-rome", 3);
  CHECK(copy.key() == kube::ObjectKey{"shop-rome", "quorum"});
  CHECK(json::serialize(copy.spec()) ==
        R"({"minAvailable":3,"selector":{"matchLabels":{"app":"quorum"}},"unhealthyPodEvictionPolicy":"AlwaysAllow"})");
  CHECK(copy.labels().size() == 2);
  CHECK(copy.label(api::labels::reflection_origin) == "rome");

  kube::Object live = copy;
  live.set_annotation(api::annotations::evictions_wanted, "q-1,q-2");
  live.mutable_metadata()["resourceVersion"] = "7";
  CHECK(!plan_budget_copy(live, copy));
  const auto changed = plan_budget_copy(live, forge_budget_copy(home, {"rome", "milan"}, "shop-rome", 2));
  REQUIRE(changed);
  CHECK(changed->resource_version() == "7");
  CHECK(changed->annotation(api::annotations::evictions_wanted) == "q-1,q-2");
  CHECK(read_budget_copy(*changed).min_available == 2);
  CHECK(read_budget_copy(live).wanted == PodNames{"q-1", "q-2"});
  CHECK(!read_budget_copy(live).is_in_force);
}

TEST_CASE("a twin says whether copies may be made in it, and one of an older provider says nothing") {
  kube::Object twin = kube::Object::make(kube::resources::namespaces, {"", "shop-rome"});
  CHECK(budgets_in_twin(twin) == BudgetsInTwin::refused);
  twin.set_annotation("offloading.liqo.io/holds-budgets", "true");
  CHECK(budgets_in_twin(twin) == BudgetsInTwin::held);
  twin.set_annotation("offloading.liqo.io/budgets-lifted", "2026-11-30T12:00:00Z");
  CHECK(budgets_in_twin(twin) == BudgetsInTwin::lifted);
  twin.set_annotation("offloading.liqo.io/holds-budgets", "false");
  CHECK(budgets_in_twin(twin) == BudgetsInTwin::refused);
}

TEST_CASE("a budget without a selector, or that is to be skipped, is not copied") {
  CHECK(is_copied(budget(1)));
  kube::Object skipped = budget(1);
  skipped.set_annotation(api::annotations::skip_reflection, "true");
  CHECK(!is_copied(skipped));
  skipped.set_annotation(api::annotations::skip_reflection, "false");
  CHECK(is_copied(skipped));
  kube::Object bare = budget(1);
  bare.mutable_spec().erase("selector");
  CHECK(!is_copied(bare));
}

TEST_CASE("selectors are written as kubectl writes them") {
  const auto text = [](std::string_view selector) {
    return selector_text(kube::parse_json(selector).value().as_object());
  };
  CHECK(text("{}") == "");
  CHECK(text(R"({"matchLabels":{"a":"b","c":""}})") == "a=b,c=");
  CHECK(text(R"({"matchExpressions":[{"key":"a","operator":"In","values":["x","y"]},
              {"key":"b","operator":"NotIn","values":["z"]},{"key":"c","operator":"Exists"},
              {"key":"d","operator":"DoesNotExist"}]})") == "a in (x,y),b!=z,c,!d");
}

namespace {

/// A budget with pods at home and at two providers. Everything is as late as it can be: home sees the pods of a
/// provider only when it looks, both disruption controllers count only when it is their turn, and liqod may be killed
/// between any two of its writes.
class World {
 public:
  static constexpr int sites = 3;  ///< the first is home
  World(unsigned seed, int pods, int desired) : random_(seed), desired_(desired) {
    for (int i = 0; i < pods; ++i) pods_.push_back({.site = pick(sites), .is_up = true, .seen_up = true});
    for (int site = 1; site < sites; ++site) copies_[site].min = count(site), recount(site);
    count_home();
  }

  void step() {
    const int site = 1 + pick(sites - 1);
    switch (pick(9)) {
      case 0:
        return see(pick_pod());
      case 1:
        return count_home();
      case 2:
        return evict_at_home();
      case 3:
        return evict_at(site);
      case 4:
        return recount(site);
      case 5:
        return recover(pick_pod());
      case 6:
        return want(site);
      default:
        return liqod(site);
    }
  }

  int up() const {
    return int(std::ranges::count_if(pods_, [](const Pod& pod) { return pod.is_up; }));
  }
  int evictions_at_providers() const { return evicted_there_; }

 private:
  struct Pod {
    int site = 0;
    bool is_up = true, seen_up = true;
    bool is_disrupted = false;  ///< the entry that an eviction at home makes
    bool is_lent = false;
  };
  struct Copy {
    std::int64_t min = 0, allowed = 0, healthy = 0;
    bool in_force = false;
    PodNames wanted;
  };

  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  std::size_t pick_pod() { return static_cast<std::size_t>(pick(static_cast<int>(pods_.size()))); }
  int count(int site) const {
    return int(std::ranges::count_if(pods_, [site](const Pod& pod) { return pod.site == site; }));
  }
  static std::string name(std::size_t pod) { return "q-" + std::to_string(pod); }

  void see(std::size_t pod) { pods_[pod].seen_up = pods_[pod].is_up; }
  /// Pods on home's own nodes are seen at once, as kubelets' reports are.
  bool looks_up(const Pod& pod) const { return pod.site == 0 ? pod.is_up : pod.seen_up; }
  void count_home() {
    int healthy = 0;
    for (Pod& pod : pods_) {
      // The pod has ended: its entry goes.
      if (!looks_up(pod)) pod.is_disrupted = false;
      if (looks_up(pod) && !pod.is_disrupted && !pod.is_lent) ++healthy;
    }
    home_allowed_ = std::max(healthy - desired_, 0);
  }
  void evict_at_home() {
    const std::size_t pod = pick_pod();
    // What is lent is evicted there; of pods elsewhere home's order arrives at once.
    if (home_allowed_ == 0 || !looks_up(pods_[pod]) || pods_[pod].is_lent || pods_[pod].site != 0) return;
    --home_allowed_;
    pods_[pod].is_disrupted = true;
    pods_[pod].is_up = false;
  }
  void evict_at(int site) {
    const std::size_t pod = pick_pod();
    Copy& copy = copies_[site];
    if (pods_[pod].site != site || !pods_[pod].is_up || !copy.in_force || copy.allowed == 0) return;
    --copy.allowed, ++evicted_there_;
    pods_[pod].is_up = false;
    copy.wanted.erase(name(pod));
  }
  void recount(int site) {
    Copy& copy = copies_[site];
    copy.healthy = std::ranges::count_if(pods_, [site](const Pod& pod) { return pod.site == site && pod.is_up; });
    copy.allowed = std::max<std::int64_t>(copy.healthy - copy.min, 0);
    copy.in_force = true;
  }
  void recover(std::size_t pod) { pods_[pod].is_up = true; }
  void want(int site) {
    copies_[site].wanted.clear();
    if (pick(3) == 0) return;
    for (std::size_t pod = 0; pod < pods_.size(); ++pod)
      if (pods_[pod].site == site && pods_[pod].is_up && pick(2) == 0) copies_[site].wanted.insert(name(pod));
  }

  BudgetView look(int site) const {
    BudgetView view{.pods = {}, .allowed = home_allowed_, .lent = {}, .copy = BudgetCopy{}};
    for (std::size_t pod = 0; pod < pods_.size(); ++pod) {
      if (pods_[pod].site != site) continue;
      view.pods.push_back({.name = name(pod), .is_ready = looks_up(pods_[pod])});
      if (pods_[pod].is_lent) view.lent.insert(name(pod));
    }
    const Copy& copy = copies_.at(site);
    *view.copy = {.min_available = copy.min,
                  .is_in_force = copy.in_force,
                  .healthy = copy.healthy,
                  .wanted = copy.wanted,
                  .leaving = {}};
    return view;
  }
  void set_lent(const PodNames& names, bool is_lent) {
    for (std::size_t pod = 0; pod < pods_.size(); ++pod)
      if (names.contains(name(pod))) pods_[pod].is_lent = is_lent;
  }
  /// One round of liqod for one provider, killed after any of its steps. It reads home's budget live, and another write
  /// in between makes its own fail.
  void liqod(int site) {
    BudgetView view = look(site);
    BudgetPlan plan = plan_budget(view);
    if (!plan.lend.empty() && plan.min_available <= copies_[site].min) {
      home_allowed_ -= int(plan.lend.size());
      set_lent(plan.lend, true);
      if (pick(4) == 0) return;
      view = look(site);
      plan = plan_budget(view);
    }
    if (plan.min_available != copies_[site].min) {
      copies_[site].min = plan.min_available;
      copies_[site].in_force = false;
      return;
    }
    if (plan.take_back.empty() || !could_take_back(view, plan)) return;
    PodNames ready_there;
    for (std::size_t pod = 0; pod < pods_.size(); ++pod)
      if (pods_[pod].site == site && pods_[pod].is_up) ready_there.insert(name(pod));
    if (may_take_back(view, plan, ready_there)) {
      set_lent(plan.take_back, false);
    }
  }

  std::mt19937 random_;
  int desired_;
  std::vector<Pod> pods_;
  std::map<int, Copy> copies_;
  int home_allowed_ = 0, evicted_there_ = 0;
};

}  // namespace

TEST_CASE("whatever drains at home and at two providers do in whatever order, no more is evicted than home allows") {
  int evicted = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const int pods = 2 + int(seed % 7), desired = int(seed % unsigned(pods));
    World world(seed, pods, desired);
    int least = pods;
    for (int i = 0; i < 400; ++i) {
      world.step();
      least = std::min(least, world.up());
    }
    REQUIRE(least >= desired);
    evicted += world.evictions_at_providers();
  }
  // Otherwise nothing was tried.
  CHECK(evicted > 500);
}

}  // namespace liqo::core
