#include "controllers/slices/node_platforms.hpp"

#include "controllers/common/scopes.hpp"
#include "kube/base/text.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;

/// Nodes that cannot be listed do not keep consumers waiting.
constexpr kube::Duration patience = 10s;
/// The number of names in a log line.
constexpr std::size_t logged_features = 10;

}  // namespace

NodePlatforms::NodePlatforms(Context context, std::function<void()> changed)
    : context_(std::move(context)), changed_(std::move(changed)) {}

void NodePlatforms::set_watching(bool wanted) {
  if (wanted == bool(nodes_)) return;
  platforms_ = core::Platforms();
  common_.reset();
  if (!wanted) {
    nodes_.release();
    return;
  }
  since_ = context_.clock.now();
  nodes_ = context_.home.acquire(scope_of_machines());
  nodes_.follow([this](const kube::Change& node) { take(node); }, [this] { notify(); });
  notify();
}

bool NodePlatforms::is_coming() const { return nodes_ && !common_ && context_.clock.now() - since_ < patience; }

void NodePlatforms::take(const kube::Change& node) {
  if (platforms_.set_node(node.key.name, node.now)) notify();
}

void NodePlatforms::notify() {
  // Half a list may lack the nodes that differ.
  if (!nodes_->has_synced()) return;
  core::Platform now = platforms_.common();
  if (common_ == now) return;
  common_ = std::move(now);
  log_left_out();
  changed_();
}

void NodePlatforms::log_left_out() {
  if (left_out_ == common_->features_left_out) return;
  left_out_ = common_->features_left_out;
  if (left_out_.empty()) return;
  log_.warn("not all declared features of the nodes are shown to consumers: some are too many, or no names of labels",
            {{"features", kube::join_some(left_out_, logged_features)}});
}

}  // namespace liqo::controllers
