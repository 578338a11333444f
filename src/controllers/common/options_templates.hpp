// The VkOptionsTemplates of this cluster, and which of them a VirtualNode follows.
// Tested by test/unit/controllers/offloading/pod_test.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "controllers/common/context.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/virtual_node.hpp"
#include "liqo/api/vk_options_template.hpp"

namespace liqo::controllers {

/// Keeps the VkOptionsTemplates of this cluster in a cache, and finds the one that a VirtualNode follows. One thread.
class OptionsTemplates {
 public:
  explicit OptionsTemplates(const Context& context);

  /// Registers a handler for when a template has changed, and when all are known.
  void subscribe(const std::function<void()>& changed) {
    templates_.subscribe([changed](const kube::ObjectKey&) { changed(); }, changed);
  }
  /// Whether all templates have been read, or there can be none because the kind is not installed.
  bool is_known() const { return templates_->is_known(); }
  /// Why they cannot be read.
  const std::optional<kube::Failure>& trouble() const { return templates_->trouble(); }
  /// The template that a VirtualNode follows; nothing if it follows none; a failure if it names one that does not
  /// exist.
  kube::Result<std::optional<kube::Object>> of(const kube::Object& virtual_node) const {
    const auto [key, is_default] = api::options_template_of(virtual_node, liqo_namespace_);
    auto found = templates_->find(key);
    // The default template belongs to an installation of the Go version, and is removed with it.
    if (!found && !is_default)
      return kube::fail(kube::Errc::missing, "the VkOptionsTemplate " + key.text() + " of VirtualNode " +
                                                 std::string(virtual_node.name()) + " does not exist");
    return found;
  }

 private:
  std::string liqo_namespace_;
  kube::InformerHandle templates_;
};

}  // namespace liqo::controllers
