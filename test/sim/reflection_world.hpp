// One home cluster, two providers of which one has two virtual nodes, and people on all sides who create, change and
// remove reflected objects and their copies.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "core/reflection/custom_resource.hpp"
#include "fake_volumes.hpp"
#include "invariants.hpp"
#include "kube/async/task_group.hpp"
#include "process_box.hpp"

namespace liqo::sim {

/// The names under which people act. At a provider, every object that they make without the labels of a copy belongs to
/// another owner.
inline constexpr std::string_view reflection_user = "user", reflection_stranger = "stranger";

/// The reflected kinds, with the contents that people draw for them. The last one is a custom resource.
struct DrawnKind {
  std::string_view name;  ///< as in the table of kinds
  std::string_view stem;  ///< from which the names of its objects are made
  int objects;            ///< the number of names
};
std::span<const DrawnKind> drawn_kinds();
/// The custom resource among the kinds, whose status comes home.
const core::reflection::CustomResource& widget_resource();
const core::reflection::ReflectedKind& widgets();
const core::reflection::ReflectedKind& kind_of(const DrawnKind& drawn);

/// Times after which liqod may have forgotten its knowledge of a copy or a provider.
struct Interruptions {
  std::vector<kube::TimePoint> ends;         ///< of a process, a session, a leadership, or of a kind at a provider
  std::vector<kube::TimePoint> starts;       ///< of a process
  std::vector<kube::TimePoint> leaders;      ///< when a replica led that did not lead before, also by faults alone
  std::vector<kube::TimePoint> theirs;       ///< ends of a process of a provider
  std::vector<kube::TimePoint> definitions;  ///< changes of the custom resource's definition
  std::vector<std::pair<kube::TimePoint, kube::TimePoint>> outages;  ///< of a link: the begin, and the latest end
};

/// One schedule of reflection. The seed decides everything. Destroy only after a run without violations: coroutines
/// that hang still use it.
class ReflectionWorld {
 public:
  explicit ReflectionWorld(std::uint64_t seed);

  /// Runs the schedule and returns what went wrong.
  std::vector<Violation> run();
  /// The log of actions, for a schedule that failed.
  const std::vector<std::string>& log() const { return log_; }

 private:
  using Act = void (ReflectionWorld::*)();
  /// An Event at a provider about a copy of an object at home.
  struct Said {
    std::string provider, type, words;
    std::string uid;         ///< of the copy
    std::string kind, name;  ///< of the object at home
    kube::TimePoint at;
  };

  void note(std::string what);
  void note_end() { times_.ends.push_back(simulator_.clock().now()); }
  void note_definition() {
    times_.definitions.push_back(simulator_.clock().now());
    note_end();
  }
  void set_up();
  asio::awaitable<void> live();
  /// Notes when a replica at home begins to lead.
  asio::awaitable<void> watch_leaders();
  void calm_down();
  /// Adds a ServiceAccount with a token, as which pods run.
  void add_account();
  /// `is_for_others`: also one with an audience that home's API server does not have.
  static void give_token(json::object& spec, bool is_for_others);
  void add_storage_class();
  /// Adds a virtual node that offers a storage class.
  void add_virtual_node(const std::string& provider, const std::string& name);
  /// Adds a provider's objects about its consumer and the endpoints that the consumer may have.
  void add_consumer(Cluster& provider);
  void declare(Cluster& provider, std::string_view ranges);
  void add_peer(Cluster& provider);
  /// Removes objects that look like copies, but were written only by strangers.
  void remove_forged(Cluster& provider, const core::reflection::ReflectedKind& kind);

  // Actions of people at home.
  void create_object();
  void edit_object();
  void delete_object();
  void create_pod();
  void delete_pod();
  void change_virtual_nodes();
  void edit_filters();
  // Actions at a provider.
  void edit_copy();
  void delete_copy();
  void hold_copy();
  void take_name();
  void free_name();
  void forge_copy();
  void give_addresses();
  void change_endpoint_rules();
  void meddle_with_endpoints();
  void take_token_name();
  // Actions on claims, on both sides.
  void change_claim();
  void meddle_with_claims();
  void say_something();
  // Actions on the custom resource.
  void operate();
  void set_status_at_home();
  void delete_definition();
  // Failures.
  void restart_daemon();
  void break_link();
  void restart_api_server();
  void cut_watches();
  void compact();

  asio::awaitable<void> restart(std::string name, bool killed, kube::Duration downtime);
  asio::awaitable<void> outage(std::vector<kube::testing::SimLink*> links, bool refuses, kube::Duration length);
  asio::awaitable<void> release(Cluster* provider, const core::reflection::ReflectedKind* kind, kube::ObjectKey key);
  /// Acts as an operator: writes the status of a copy for the state that it has seen, if the copy still exists.
  void report(Cluster& provider, const json::object& seen);
  asio::awaitable<void> report_later(Cluster* provider, Tree seen);
  /// Removes the definition of the custom resource from a cluster for a while.
  void undefine(Cluster& cluster);
  asio::awaitable<void> define_later(Cluster* cluster);
  /// Makes an Event about a copy.
  void say(Cluster& provider, const core::reflection::ReflectedKind& kind, const json::object& copy,
           std::string_view type);
  json::object draw(std::string_view kind, const std::string& name);
  Cluster& any_provider();
  const DrawnKind& any_kind();
  std::string any_name(const DrawnKind& drawn);
  Tree any_copy(Cluster& provider, const core::reflection::ReflectedKind& kind);
  std::vector<kube::testing::SimLink*> links();

  void check_end();
  /// Checks that, while nothing fails, warnings about copies come home soon, and no other Events do.
  void check_events();
  /// The first difference from the expected state, "" if there is none.
  std::string find_difference();
  std::string compare_copies(Cluster& provider, const core::reflection::ReflectedKind& kind);
  std::string compare_statuses();
  /// Compares what home shows of the addresses that providers gave to copies.
  std::string compare_addresses();
  /// Whether a Secret that the pod needs holds a token that is not copied: the pod is not sent.
  bool needs_withheld(const kube::Object& pod);
  std::string compare_tokens(Cluster& provider);
  std::string compare_claims();
  std::string compare_claim(const kube::Object& claim);
  /// Compares the EndpointSlices that the provider's own liqod should have made.
  std::string compare_endpoints(Cluster& provider);
  /// The clusters that have a definition of the custom resource in the end.
  std::vector<Cluster*> defining() const;
  std::set<std::string> find_referred(const Cluster& provider, bool by_pods_alone = false);
  std::vector<std::string> list_writes(kube::TimePoint after);

  kube::testing::Simulator simulator_;
  kube::Random random_;
  bool pairs_, patient_;  ///< two replicas; a schedule long enough that nothing refers to some Secrets any more
  Cluster home_;
  std::vector<std::unique_ptr<Cluster>> providers_;
  std::vector<std::unique_ptr<FakeVolumes>> volumes_;           ///< of all clusters
  std::map<std::string, std::unique_ptr<ProcessBox>> daemons_;  ///< those of home by identity, of providers by ID
  kube::async::TaskGroup group_, watchers_;
  std::vector<Violation> violations_;
  std::vector<std::string> log_;
  Interruptions times_;
  std::vector<Said> said_;
  int next_pod_ = 0;
  int next_value_ = 0;
};

/// Compares the actions of liqod at one provider with the objects there and at home at each moment. `ends`: when a
/// process, a session or its leadership ended. The next process does not know of an apply to a name that another owner
/// took at that moment (docs/known-gaps.md).
void check_reflection_history(Cluster& home, Cluster& provider, const std::vector<kube::TimePoint>& ends,
                              std::vector<Violation>& found);
/// Checks what liqod wrote of the custom resource at home: only statuses, only those of the first provider, and never
/// for a generation that its operator had not seen. `providers`: those that have a definition of it.
void check_status_history(Cluster& home, const std::vector<Cluster*>& providers, const Interruptions& times,
                          std::vector<Violation>& found);

/// Checks that the data of a living claim is not deleted, that no claim gets an empty volume instead of its data, and
/// that claims of other owners are not touched.
void check_claim_history(Cluster& home, const std::vector<std::unique_ptr<Cluster>>& providers,
                         std::vector<Violation>& found);
/// Checks what the provider's liqod made of ShadowEndpointSlices: it writes only what the consumer wants and the
/// provider allows, and leaves objects of others alone. `ends`: when a process of a provider ended; it may have had no
/// time to give back a name that it believed to be free.
void check_endpoint_history(Cluster& home, Cluster& provider, const std::vector<kube::TimePoint>& ends,
                            std::vector<Violation>& found);

}  // namespace liqo::sim
