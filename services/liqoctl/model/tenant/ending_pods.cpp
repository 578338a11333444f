#include "model/tenant/ending_pods.hpp"

#include <algorithm>

#include "core/common/peer_names.hpp"
#include "core/quota/quota_user.hpp"
#include "kube/k8s/request.hpp"
#include "liqo/api/labels.hpp"

namespace liqoctl::model {

namespace labels = liqo::api::labels;

std::string pods_of_consumer(std::string_view consumer, std::string_view slice) {
  std::string selector = kube::label_is(labels::managed_by, labels::managed_by_shadow_pod) + "," +
                         kube::label_is(labels::reflection_origin, consumer);
  if (!slice.empty())
    selector +=
        "," + kube::label_is(labels::creator_user, liqo::core::escape_user(liqo::core::slice_user(slice, consumer)));
  return selector;
}

std::string ending_in_words(const std::vector<kube::Object>& pods) {
  const auto ending = std::ranges::count_if(pods, [](const kube::Object& pod) { return pod.is_deleting(); });
  if (ending == 0) return "";
  return ending == 1
             ? "the drain has begun to end 1 pod: it is not kept, and starts anew"
             : "the drain has begun to end " + std::to_string(ending) + " pods: they are not kept, and start anew";
}

}  // namespace liqoctl::model
