#include "peering/slices.hpp"

#include "core/slices/denial.hpp"
#include "core/slices/request.hpp"
#include "core/slices/slice_node.hpp"
#include "kube/base/printable.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"
#include "liqo/api/virtual_node.hpp"
#include "model/info/answers.hpp"
#include "session/wait.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
namespace conditions = liqo::api::slice_conditions;
namespace json = kube::json;
using kube::Errc;
using liqo::api::ResourceSlice;

/// "Resources was denied: the message of the provider".
std::string denial(const ResourceSlice& slice, std::string_view type) {
  const auto condition = slice.condition(type);
  const std::string why = condition && !condition->message.empty() ? kube::printable(condition->message.substr(0, 512))
                          : condition                              ? std::string(condition->reason)
                                                                   : "";
  return std::string(type) + " denied" + (why.empty() ? "" : ": " + why);
}

/// How long a changed slice may still show the answer to the earlier request: until the provider has seen the change
/// and its answer has come back.
constexpr kube::Duration old_answer_patience = std::chrono::seconds(3);

struct Answered {
  json::object granted;
  std::string denial;       ///< "" = accepted
  bool has_words = false;   ///< the provider gives a reason for the denial
  bool is_kept = false;     ///< denied, but the earlier grant stays
  bool shows_what = false;  ///< the slice itself shows which request the answer is to
};

WaitState look_at(const Object* object, Answered& answer) {
  if (!object) return {.seen = "the slice is not there"};
  const ResourceSlice slice(*object);
  for (const std::string_view type : {conditions::authentication, conditions::resources})
    if (slice.is_denied(type)) {
      const auto said = slice.condition(type);
      answer = {.granted = slice.granted(),
                .denial = denial(slice, type),
                .has_words = said && !said->message.empty(),
                .is_kept = liqo::core::keeps_grant(*object)};
      return {.done = true};
    }
  if (!slice.is_accepted(conditions::authentication)) return {.seen = "the provider has not answered"};
  if (!slice.is_accepted(conditions::resources))
    return {.seen = "the provider has not decided about the resources" + model::who_decides(slice.slice_class())};
  if (!model::answers(slice))
    return {.seen = "granted is still " + model::in_words(slice.granted()) +
                    "; a provider that has cordoned the tenant or the slice does not look at changes"};
  answer = {.granted = slice.granted(), .shows_what = slice.slice_class() == liqo::core::default_class};
  return {.done = true};
}

}  // namespace

asio::awaitable<Result<EnsuredSlice>> ensure_slice(Session& session, Cluster& cluster, model::SliceRequest request) {
  const kube::ObjectKey key{request.ns, request.name};
  std::optional<Object> old;
  if (!cluster.would_be_new(kube::resources::namespaces, {"", request.ns})) {
    KUBE_CO_TRY(found, co_await cluster.find(kinds::resource_slices, key));
    old = std::move(found);
  }
  json::object before;
  std::string old_class, old_answer;
  if (old) {
    before = ResourceSlice(*old).requested();
    old_class = ResourceSlice(*old).slice_class();
    old_answer = model::answer_text(ResourceSlice(*old));
  }
  if (request.slice_class.empty())
    request.slice_class = old_class.empty() ? std::string(liqo::core::default_class) : old_class;
  Object wanted = model::forge_resource_slice(request);
  const bool keeps_node = old && !request.create_virtual_node;
  const bool wants_node = liqo::core::wants_virtual_node(keeps_node ? *old : wanted);
  if (keeps_node)
    kube::ensure_object(wanted.mutable_metadata(), "annotations").erase(liqo::api::annotations::create_virtual_node);
  KUBE_CO_TRY(done, co_await ensure(cluster, kinds::resource_slices, std::move(wanted)));
  std::string line = "ResourceSlice " + request.name + " " + std::string(in_words(done));
  if (done == Ensured::created) line += ", asking for " + model::in_words(request.resources);
  const auto after =
      done == Ensured::changed ? co_await cluster.find(kinds::resource_slices, key) : Result<std::optional<Object>>();
  if (after && *after) {
    const ResourceSlice now(**after);
    line += ": " + model::change_in_words(before, now.requested());
    if (now.slice_class() != old_class)
      line += ", class " + kube::printable(old_class) + " → " + kube::printable(now.slice_class());
  }
  if (done == Ensured::created && request.resources.empty())
    line = "ResourceSlice " + request.name + " created, asking for what the provider gives by default";
  session.output().success(cluster.scope(), line);
  const bool other_class = done == Ensured::changed && request.slice_class != old_class;
  if (done != Ensured::changed) old_answer.clear();
  co_return EnsuredSlice{.done = done,
                         .slice_class = std::move(request.slice_class),
                         .old_answer = std::move(old_answer),
                         .other_class = other_class,
                         .wants_node = wants_node};
}

asio::awaitable<Result<void>> wait_for_slice(Session& session, Cluster& cluster, kube::ObjectKey key,
                                             EnsuredSlice done) {
  const kube::TimePoint started = cluster.clock().now();
  kube::TimePoint denied_at = started;
  std::string denied;
  Answered answer;
  const std::function<WaitState(const Object*)> look = [&](const Object* object) -> WaitState {
    auto seen = look_at(object, answer);
    if (!seen.done) return seen;
    const std::string text = model::answer_text(ResourceSlice(*object));
    if (text != done.old_answer) {
      if (answer.denial.empty() || done.done == Ensured::created) return seen;
      // If its policy was changed a moment ago, the provider may have denied the earlier request once more with another
      // message, or not have looked at it again yet. An answer names neither its request nor its time. So it has to
      // stay the same for as long as an answer may take.
      if (text != denied) denied = text, denied_at = cluster.clock().now();
      if (cluster.clock().now() - denied_at >= old_answer_patience) return seen;
      return {.seen = answer.denial + "; that may still be an answer of before", .says_why = true};
    }
    const std::string slice_class(ResourceSlice(*object).slice_class());
    const bool is_custom = !liqo::core::is_built_in_class(slice_class);
    if (done.other_class && is_custom)
      return {.seen = "the answer is still that to the class before: has the provider a controller of class " +
                      kube::printable(slice_class) + "?"};
    const bool shows_what = answer.shows_what && !done.other_class;
    if (shows_what || cluster.clock().now() - started >= old_answer_patience) return seen;
    return {.seen = "the provider has not answered the change"};
  };
  KUBE_CO_TRYV(co_await wait_for_object(
      cluster, {.what = "the provider to answer to ResourceSlice " + key.name, .deadline = session.deadline()},
      {.resource = kinds::resource_slices, .key = key, .blame = Blame::warnings}, look));
  if (!answer.denial.empty())
    co_return kube::fail(
        Errc::unsupported,
        "ResourceSlice " + key.name + ": " + answer.denial +
            (answer.is_kept ? " (granted as before: " + model::in_words(answer.granted) + "; ask for that or for less)"
             : answer.has_words ? ""
                                : " (the provider does not say why: ask its operator)"));
  session.output().success(cluster.scope(),
                           "ResourceSlice " + key.name + " accepted, granted " + model::in_words(answer.granted));
  co_return Result<void>();
}

asio::awaitable<Result<kube::ObjectKey>> wait_for_virtual_node(Session& session, Cluster& cluster,
                                                               kube::ObjectKey slice) {
  const std::string selector = kube::label_is(liqo::api::labels::resource_slice_name, slice.name);
  kube::ObjectKey key;
  const std::function<asio::awaitable<Result<WaitState>>()> probe =
      // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): lives until the last probe has ended
      [&]() -> asio::awaitable<Result<WaitState>> {
    KUBE_CO_TRY(found, co_await cluster.list(kinds::virtual_nodes, slice.ns, selector));
    const Object* node = model::node_to_wait_for(found, slice.name);
    if (!node) co_return WaitState{.seen = "there is none yet"};
    key = node->key();
    co_return WaitState{.done = true};
  };
  KUBE_CO_TRYV(co_await wait_for(
      cluster, {.what = "a VirtualNode of ResourceSlice " + slice.name, .deadline = session.deadline()}, probe));
  co_return key;
}

asio::awaitable<Result<void>> wait_for_node(Session& session, Cluster& cluster, kube::ObjectKey virtual_node,
                                            std::string slice) {
  std::string size;
  bool has_node = true;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): lives until the last probe has ended
  const std::function<asio::awaitable<Result<WaitState>>()> probe = [&]() -> asio::awaitable<Result<WaitState>> {
    std::optional<Object> granted;
    if (!slice.empty()) {
      KUBE_CO_TRY(found, co_await cluster.find(kinds::resource_slices, {virtual_node.ns, slice}));
      granted = std::move(found);
    }
    KUBE_CO_TRY(wanted, co_await cluster.find(kinds::virtual_nodes, virtual_node));
    has_node = !wanted || liqo::api::VirtualNode(*wanted).create_node();
    if (!has_node) co_return WaitState{.done = true};
    KUBE_CO_TRY(node, co_await cluster.find(kube::resources::nodes, {"", virtual_node.name}));
    if (node) size = model::in_words(kube::object_at(node->status(), {"allocatable"}));
    std::string missing = model::why_node_is_not_ready(granted ? &*granted : nullptr, wanted ? &*wanted : nullptr,
                                                       node ? &*node : nullptr);
    co_return WaitState{.done = missing.empty(), .seen = std::move(missing)};
  };
  KUBE_CO_TRYV(co_await wait_for(
      cluster, {.what = "Node " + virtual_node.name + " to be Ready", .deadline = session.deadline()}, probe));
  session.output().success(cluster.scope(), has_node ? "Node " + virtual_node.name + " is Ready, with " + size
                                                     : "VirtualNode " + virtual_node.name + " is to have no Node");
  co_return Result<void>();
}

}  // namespace liqoctl
