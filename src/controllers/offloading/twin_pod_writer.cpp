#include "controllers/offloading/twin_pod_writer.hpp"

#include "controllers/common/scopes.hpp"
#include "core/offloading/capacity.hpp"
#include "core/offloading/pod_status.hpp"
#include "core/offloading/shadow_plan.hpp"
#include "kube/client/find_live.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"
#include "liqo/api/shadow_pod.hpp"

namespace liqo::controllers {

TwinPodWriter::TwinPodWriter(Context context, BoundedTwins& bounded, OrderMemories& memories)
    : context_(context),
      bounded_(bounded),
      memories_(memories),
      pods_(context.home.acquire(scope_of_consumer_pods())) {}

asio::awaitable<kube::Result<void>> TwinPodWriter::release(const kube::Object& pod, bool confirm_first) {
  const kube::ObjectKey key = pod.key();
  if (!core::is_tracked(pod)) {
    released_.erase(key);
    co_return kube::Result<void>();
  }
  // The watch shows when it is gone; a second patch would find nothing. A restored database has the finalizer again, in
  // another version of the same pod.
  std::string version(pod.resource_version());
  if (const auto done = released_.find(key); done != released_.end() && done->second == version)
    co_return kube::Result<void>();
  kube::Api& home = context_.home.api();
  if (confirm_first) {
    KUBE_CO_TRY(live, co_await kube::find_live(home, api::kinds::shadow_pods, key), "reading the ShadowPod of a pod");
    const auto controller = pod.controller();
    if (live && controller && controller->uid == live->uid()) co_return kube::Result<void>();
  }
  auto patched = co_await home.patch(
      kube::resources::pods, key, {kube::PatchType::strategic_merge, kube::json::serialize(core::release_patch(pod))});
  if (!patched && !patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), "releasing the pod");
  if (patched) released_[key] = std::move(version);
  // The last finalizer of a deleted pod ends it: the answer would bring it back into the cache.
  if (patched && !patched->is_deleting()) pods_->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<void>> TwinPodWriter::patch(const kube::Object& shadow, const kube::json::object& patch) {
  auto patched = co_await kube::merge_patch(
      context_.home.api(), *pods_, shadow.key(),
      {.body = kube::json::serialize(patch), .phase = "updating the pod", .type = kube::PatchType::strategic_merge});
  if (patched) co_return kube::Result<void>();
  if (patched.error().is_permanent())
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod, patched.error().text());
  co_return std::unexpected(std::move(patched.error()));
}

asio::awaitable<kube::Result<void>> TwinPodWriter::add_ephemeral(const kube::Object& shadow, const kube::Object& pod,
                                                                 core::EphemeralAddition addition) {
  kube::Api& home = context_.home.api();
  auto patched = co_await home.patch(kube::resources::pods, pod.key(),
                                     {kube::PatchType::strategic_merge, kube::json::serialize(addition.patch)},
                                     {.subresource = "ephemeralcontainers"});
  // A lack of our own rights is not noted: they may be granted.
  if (!patched && patched.error().is_permanent() && !patched.error().is_not_found() &&
      !core::is_for_lack_of_rights(patched.error())) {
    const std::string words = core::refusal_words(patched.error());
    context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod,
                            "the ephemeral container " + addition.name + " is refused: " + words);
    patched = co_await home.patch(kube::resources::pods, pod.key(),
                                  {kube::PatchType::strategic_merge,
                                   kube::json::serialize(core::ephemeral_refusal_patch(pod, addition.name, words))});
    // If there is no room for the note, the next change of the Pod asks again.
    if (!patched && patched.error().is_permanent()) co_return kube::Result<void>();
  }
  if (!patched && !patched.error().is_not_found())
    co_return kube::fail(std::move(patched.error()), "adding an ephemeral container to the pod");
  if (patched) pods_->observe(std::move(*patched));
  co_return kube::Result<void>();
}

asio::awaitable<kube::Result<std::optional<kube::Duration>>> TwinPodWriter::resize(const kube::Object& shadow,
                                                                                   const kube::Object& pod,
                                                                                   core::PodResize plan) {
  kube::Api& home = context_.home.api();
  const kube::ObjectKey key = shadow.key();
  const std::string digest = core::resources_digest(api::ShadowPod(shadow).pod_spec());
  if (const kube::Duration left = memories_[key].left_of_resize_pause(digest, context_.clock.now());
      left > kube::Duration::zero()) {
    if (memories_[key].is_resize_short()) bounded_.await_room(key);
    co_return left;
  }
  kube::json::object note;
  if (auto* only = std::get_if<core::resize_action::Note>(&plan)) note = std::move(only->patch);
  if (auto* begin = std::get_if<core::resize_action::Begin>(&plan)) note = std::move(begin->patch);
  if (auto* apply = std::get_if<core::resize_action::Apply>(&plan)) {
    note = std::move(apply->done);
    auto patched = co_await home.patch(kube::resources::pods, key,
                                       {kube::PatchType::strategic_merge, kube::json::serialize(apply->patch)},
                                       {.subresource = "resize"});
    // A resize that webhooks have changed is noted as done, or each change of the Pod would request it again.
    if (patched) {
      memories_[key].note_resized();
      pods_->observe(std::move(*patched));
    } else {
      const kube::Failure& failure = patched.error();
      const bool is_unknown = core::is_without_resize(failure);
      if (failure.is_not_found() && !is_unknown) co_return std::nullopt;
      if (!failure.is_permanent()) co_return kube::fail(std::move(patched.error()), "resizing the pod");
      const std::string words = is_unknown ? std::string(core::without_resize) : core::refusal_words(failure);
      const bool is_short = BoundedTwins::lacks_room(failure);
      if (memories_[key].note_resize_refused(digest, is_short, context_.clock.now()))
        context_.events.warning(shadow, api::kinds::shadow_pods, api::reasons::failed_update_pod,
                                "the resize is refused: " + words);
      if (is_short) bounded_.await_room(key);
      auto refused = core::resize_refusal_patch(shadow, pod, words);
      if (!refused) co_return core::resize_pause;
      note = std::move(*refused);
    }
  }
  KUBE_CO_TRYV(co_await kube::merge_patch(home, *pods_, key,
                                          {.body = kube::json::serialize(note),
                                           .phase = "noting what the pod was resized to",
                                           .type = kube::PatchType::strategic_merge}));
  co_return std::nullopt;
}

}  // namespace liqo::controllers
