// A Kubernetes API server in memory: answers the requests of the library as the real one does, at once and without a
// network. For tests and simulations; knows no authentication and no admission beyond a pod's defaults.
// Evictions go by PodDisruptionBudgets if it serves them (fake/disruption_controller.hpp counts these).
// Tested by test/testing/fake/reads_test.cpp and test/testing/fake/writes_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/k8s/request.hpp"
#include "kube/testing/fake/status.hpp"
#include "kube/testing/fake/store.hpp"
#include "kube/testing/fake/watch.hpp"

namespace kube::testing {

/// What the server answers. A watch has a stream instead of a body.
struct FakeAnswer {
  int status = 200;
  HttpHeaders headers;
  std::string body;
  std::unique_ptr<FakeWatch> watch;
};

/// One write that reached the server, carried out or not.
struct FakeWrite {
  TimePoint at;
  std::string actor;
  std::string method;
  std::string plural;
  std::string subresource;
  ObjectKey key;
  int code = 0;
};

/// A write that admission is asked about.
struct FakeReview {
  const FakeKind& kind;
  std::string_view subresource;
  const ObjectKey& key;
  const json::object* before;  ///< null: the object is to be created
  const json::object& after;
  std::string_view actor;
};

/// How the server differs from one at its best. What is set holds for requests that come from then on.
struct FakeManners {
  enum class StreamingLists {
    on,
    off,      ///< refused with 422, as without the feature gate WatchList
    ignored,  ///< the parameter is not known: the state comes as with any watch, without a bookmark after it
  };
  StreamingLists streaming_lists = StreamingLists::on;
  std::optional<std::size_t> streams_cut_at;  ///< streamed lists end after so many objects, before their bookmark
  int watch_error = 0;                        ///< each watch is one ERROR event with this code; 0 = none
  bool pages_expire = false;                  ///< 410 for every page but the first
  std::optional<std::uint64_t> cached_at;     ///< lists of any version ("0") show the state of this one
  /// Refuses writes of objects, as webhooks and built-in admission do; deletions are not asked about. It must not
  /// write.
  std::function<std::optional<Refusal>(const FakeReview&)> admission;
  /// managedFields also name writers of updates, until an apply comes after them, and say when each manager wrote last.
  bool manager_times = false;
};

struct FakeRequest;

/// An object, or a subresource of it.
struct FakePath {
  const Resource& resource;
  const ObjectKey& key;
  std::string_view subresource = {};
};

/// One thread. Must outlive its watches.
class FakeApiServer {
 public:
  /// Serves `built_in_kinds()`; custom ones are added with serve(). UIDs follow from the seed.
  explicit FakeApiServer(VirtualClock& clock, std::uint64_t seed = 1);

  void serve(FakeKind kind) { store_.serve(std::move(kind)); }
  void serve(const Resource& custom) { store_.serve(custom_kind(custom)); }
  bool serves(const Resource& resource) {
    return store_.find(resource.group, resource.version, resource.plural) != nullptr;
  }
  FakeStore& store() { return store_; }
  FakeManners& manners() { return manners_; }

  /// Carries out one request in the name of `actor` (recorded in the history).
  FakeAnswer handle(const HttpRequest& request, std::string_view actor);

  /// The verbs for tests and for behaviours that stand for other processes of the cluster: no text in between.
  Answer<Tree> create(const Resource& resource, json::object object, std::string_view actor);
  /// Changes an object in place, retrying nothing. 404 if there is none.
  Answer<Tree> update(const FakePath& path, const std::function<void(json::object&)>& change, std::string_view actor);
  /// Returns the object as it is afterwards; its last state if it is gone.
  Answer<Tree> remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
                      std::string_view actor);
  /// The object, or null.
  Tree get(const Resource& resource, const ObjectKey& key);
  std::vector<Tree> list(const Resource& resource, std::string_view ns = {});

  const std::vector<FakeWrite>& writes() const { return writes_; }

 private:
  struct Writer {
    std::string_view actor;
    bool dry_run = false;           ///< nothing is stored, and the answer is the same
    std::string_view manager = {};  ///< of the fields, "" = the actor
  };
  Answer<Tree> create(FakeTable& table, std::string_view ns, json::object object, const Writer& writer);
  struct Place {
    FakeTable& table;
    const ObjectKey& key;
    std::string_view subresource;
  };
  Answer<Tree> replace(const Place& place, json::object next, const Writer& writer);
  Answer<Tree> remove(FakeTable& table, const ObjectKey& key, const DeleteOptions& options, std::string_view actor);
  Answer<Tree> patch(const FakeRequest& request, std::string_view actor);
  Answer<Tree> apply(const FakeRequest& request, std::string_view actor);
  Answer<Tree> post_subresource(const FakeRequest& request, std::string_view actor);
  Answer<Tree> evict(const FakeRequest& request, std::string_view actor);
  /// Takes an eviction of the pod from what its PodDisruptionBudget allows, as the real server does.
  Answer<> spend_disruption(const json::object& pod, std::string_view actor);
  Answer<FakeAnswer> list_answer(const FakeRequest& request);
  Answer<FakeAnswer> watch_answer(const FakeRequest& request);
  Answer<FakeAnswer> dispatch(FakeRequest& request, std::string_view actor);

  FakeStore store_;
  FakeManners manners_;
  std::vector<FakeWrite> writes_;
  /// What each manager of server-side apply last applied, by manager and subresource.
  using Managers = std::map<std::string, json::object>;
  /// The answer to an apply or a read of one object, which names its managers if an apply has made or changed it.
  Answer<Tree> with_managers(Answer<Tree> stored) const;
  std::map<std::string, Managers> applied_;  ///< by UID
  /// When each manager last changed an object, by UID, then by manager and subresource.
  std::map<std::string, std::map<std::string, std::string>> written_;
  /// `owner`: manager and subresource.
  void note_apply(const std::string& uid, const std::string& owner, json::object fields);
  void note_writer(const json::object& stored, std::string_view subresource, const Writer& writer);
  /// What admission says of a write.
  Answer<> review(const FakeReview& asked) const;
};

}  // namespace kube::testing
