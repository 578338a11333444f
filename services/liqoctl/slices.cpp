#include "slices.hpp"

#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/api/resource_slice.hpp"
#include "text/width.hpp"
#include "wait.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;
namespace conditions = liqo::api::slice_conditions;
namespace json = kube::json;
using kube::Errc;
using liqo::api::ResourceSlice;

/// "Resources was denied: the words of the provider".
std::string denial(const ResourceSlice& slice, std::string_view type) {
  const auto condition = slice.condition(type);
  const std::string why = condition && !condition->message.empty() ? text::printable(condition->message.substr(0, 512))
                          : condition                              ? std::string(condition->reason)
                                                                   : "";
  return std::string(type) + " denied" + (why.empty() ? "" : ": " + why);
}

/// How long an answer to what was asked before may stand on a slice that was changed: the provider has to see the
/// change, and its answer to come back.
constexpr kube::Duration old_answer_patience = std::chrono::seconds(3);

/// Everything that tells two answers apart, with the times of the conditions.
std::string answer_text(const ResourceSlice& slice) {
  return json::serialize(kube::array_at(slice.object().status(), {"conditions"})) + json::serialize(slice.granted());
}

/// Whether the grant is the answer to this request. Classes other than the default one may grant other amounts.
bool answers(const ResourceSlice& slice) {
  if (slice.slice_class() != "default") return !slice.granted().empty();
  json::object relevant;
  for (const auto& [key, amount] : slice.requested()) {
    const json::value* granted = slice.granted().if_contains(key);
    if (granted) relevant[key] = *granted;
  }
  return model::same_amounts(slice.requested(), relevant);
}

struct Answered {
  json::object granted;
  std::string denial;       ///< "" = accepted
  bool shows_what = false;  ///< it says itself what it answers to
};

Look look_at(const Object* object, Answered& answer) {
  if (!object) return {.seen = "the slice is not there"};
  const ResourceSlice slice(*object);
  for (const std::string_view type : {conditions::authentication, conditions::resources})
    if (slice.is_denied(type)) {
      answer = {.denial = denial(slice, type)};
      return {.done = true};
    }
  if (!slice.is_accepted(conditions::authentication)) return {.seen = "the provider has not answered"};
  if (!slice.is_accepted(conditions::resources)) return {.seen = "the provider has not decided about the resources"};
  if (!answers(slice))
    return {.seen = "granted is still " + model::in_words(slice.granted()) +
                    "; a provider that has cordoned the tenant or the slice does not look at changes"};
  answer = {.granted = slice.granted(), .shows_what = slice.slice_class() == "default"};
  return {.done = true};
}

Look look_at_node(const Object* node) {
  if (!node) return {.seen = "there is no such Node yet"};
  for (const json::value& condition : kube::array_at(node->status(), {"conditions"})) {
    if (kube::string_at(condition, {"type"}) != "Ready") continue;
    if (kube::string_at(condition, {"status"}) == "True") return {.done = true};
    return {.seen = "Ready is " + std::string(kube::string_at(condition, {"status"})) + ": " +
                    text::printable(kube::string_at(condition, {"message"}).substr(0, 512))};
  }
  return {.seen = "it has no condition Ready yet"};
}

}  // namespace

asio::awaitable<Result<EnsuredSlice>> ensure_slice(Session& session, Cluster& cluster, model::SliceRequest request,
                                                   bool keep_others) {
  const kube::ObjectKey key{request.ns, request.name};
  std::string before, old_answer;
  if (!cluster.would_be_new(kube::resources::namespaces, {"", request.ns})) {
    auto old = co_await cluster.find(kinds::resource_slices, key);
    if (!old) co_return std::unexpected(std::move(old.error()));
    if (*old) {
      before = model::in_words(ResourceSlice(**old).requested());
      old_answer = answer_text(ResourceSlice(**old));
    }
  }
  const Object wanted = model::resource_slice(request);
  const std::vector<std::string> replaced =
      keep_others || request.resources.empty() ? std::vector<std::string>() : std::vector<std::string>{"resources"};
  auto done = co_await ensure(cluster, kinds::resource_slices, wanted, replaced);
  if (!done) co_return std::unexpected(std::move(done.error()));
  std::string line = "ResourceSlice " + request.name + " " + std::string(in_words(*done));
  if (*done == Ensured::created) line += ", asking for " + model::in_words(request.resources);
  if (*done == Ensured::changed) line += ", which asked for " + before;
  if (*done == Ensured::created && request.resources.empty())
    line = "ResourceSlice " + request.name + " created, asking for what the provider gives by default";
  session.output().success(cluster.scope(), line);
  co_return EnsuredSlice{.done = *done, .old_answer = *done == Ensured::changed ? std::move(old_answer) : ""};
}

asio::awaitable<Result<void>> wait_for_slice(Session& session, Cluster& cluster, kube::ObjectKey key,
                                             std::string old_answer) {
  const kube::TimePoint started = cluster.clock().now();
  Answered answer;
  const std::function<Look(const Object*)> look = [&](const Object* object) -> Look {
    auto seen = look_at(object, answer);
    if (!seen.done || answer.shows_what || cluster.clock().now() - started >= old_answer_patience) return seen;
    if (answer_text(ResourceSlice(*object)) == old_answer) return {.seen = "the provider has not answered the change"};
    return seen;
  };
  auto answered = co_await wait_for_object(cluster, session.deadline(), kinds::resource_slices, key,
                                           "the provider to answer to ResourceSlice " + key.name, look);
  if (!answered) co_return std::unexpected(std::move(answered.error()));
  if (!answer.denial.empty())
    co_return kube::fail(Errc::unsupported, "ResourceSlice " + key.name + ": " + answer.denial +
                                                " (the tenant or the slice may be cordoned; ask the provider)");
  session.output().success(cluster.scope(),
                           "ResourceSlice " + key.name + " accepted, granted " + model::in_words(answer.granted));
  co_return Result<void>();
}

asio::awaitable<Result<kube::ObjectKey>> wait_for_virtual_node(Session& session, Cluster& cluster,
                                                               kube::ObjectKey slice) {
  const std::string selector = "liqo.io/resourceslice-name=" + slice.name;
  kube::ObjectKey key;
  const std::function<asio::awaitable<Result<Look>>()> probe =
      // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines): lives until the last probe has ended
      [&]() -> asio::awaitable<Result<Look>> {
    auto found = co_await cluster.list(kinds::virtual_nodes, slice.ns, selector);
    if (!found) co_return std::unexpected(std::move(found.error()));
    if (found->empty()) co_return Look{.seen = "there is none yet"};
    key = found->front().key();
    co_return Look{.done = true};
  };
  auto done = co_await wait_for(cluster, session.deadline(), "a VirtualNode of ResourceSlice " + slice.name, probe);
  if (!done) co_return std::unexpected(std::move(done.error()));
  co_return key;
}

asio::awaitable<Result<void>> wait_for_node(Session& session, Cluster& cluster, kube::ObjectKey virtual_node) {
  const std::function<Look(const Object*)> look = look_at_node;
  auto ready = co_await wait_for_object(cluster, session.deadline(), kube::resources::nodes, {"", virtual_node.name},
                                        "Node " + virtual_node.name + " to be Ready", look);
  if (!ready) co_return std::unexpected(std::move(ready.error()));
  auto node = co_await cluster.find(kube::resources::nodes, {"", virtual_node.name});
  std::string size;
  if (node && *node) size = ", with " + model::in_words(kube::object_at((*node)->status(), {"allocatable"}));
  session.output().success(cluster.scope(), "Node " + virtual_node.name + " is Ready" + size);
  co_return Result<void>();
}

}  // namespace liqoctl
