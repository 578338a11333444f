#include "controllers/offloading/home_trust.hpp"

#include <utility>
#include <vector>

#include "liqo/api/kinds.hpp"

namespace liqo::controllers {
namespace {

/// The most sources whose certificates are kept, and their bytes.
constexpr std::size_t max_found = 256, max_found_bytes = 8 << 20;

}  // namespace

void HomeTrust::watch(const kube::Resource& version) {
  bundles_ = context_.home.acquire({.resource = version});
  bundles_.subscribe([this](const kube::Change&) {
    forget();
    ++changes_;
    changed_();
  });
}

void HomeTrust::give_up(std::string why) {
  bundles_.release();
  why_not_ = std::move(why);
  refused_at_ = context_.clock.now();
}

std::optional<bool> HomeTrust::look() {
  if (is_readable_) return true;
  if (!bundles_) {
    if (refused_at_ && context_.clock.now() - *refused_at_ < refused_pause) return false;
    watch(api::kinds::trust_bundles);
    return std::nullopt;
  }
  if (bundles_->has_synced()) return is_readable_ = true;
  if (bundles_->trouble() && bundles_->trouble()->is_forbidden()) {
    give_up("liqod may not read ClusterTrustBundles here: upgrade the installation with its chart");
    return false;
  }
  if (!bundles_->is_known()) return std::nullopt;
  if (bundles_->scope().resource == api::kinds::trust_bundles) {
    bundles_.release();
    watch(api::kinds::trust_bundles_beta);
    return std::nullopt;
  }
  give_up("this cluster serves no ClusterTrustBundles");
  return false;
}

std::string HomeTrust::find(const core::TrustSource& source) {
  std::vector<std::string> texts;
  const auto add = [&texts](const kube::Object& bundle) {
    texts.emplace_back(kube::string_at(bundle.spec(), {"trustBundle"}));
  };
  if (!source.name.empty()) {
    if (const auto bundle = bundles_->find({"", source.name})) add(*bundle);
  } else {
    for (const kube::Object& bundle : bundles_->objects())
      if (core::selects(source, bundle)) add(bundle);
  }
  return core::merge_anchors(texts);
}

core::TrustTexts HomeTrust::texts(const core::TrustSources& sources) {
  core::TrustTexts texts;
  for (const core::TrustSource& source : sources) {
    if (found_.size() >= max_found || found_bytes_ >= max_found_bytes) forget();
    auto known = found_.find(source.key);
    if (known == found_.end()) {
      known = found_.emplace(source.key, find(source)).first;
      found_bytes_ += known->second.size();
    }
    if (known->second.empty())
      core::note_missing(texts, source);
    else
      texts.by_key[source.key] = known->second;
  }
  return texts;
}

}  // namespace liqo::controllers
