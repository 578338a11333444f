// A controller of a kind of its own, with a status, a finalizer and Events: each Widget has a ConfigMap that says its
// colour.
#pragma once

#include "kube/runtime/controller.hpp"
#include "kube/runtime/finalizer.hpp"
#include "kube/runtime/manager.hpp"
#include "kube/runtime/merge_patch.hpp"
#include "kube/runtime/to_keys.hpp"

namespace example {

inline constexpr kube::Resource widgets{"example.com", "v1", "widgets", "Widget"};

/// Guarantees: a Widget goes only when its ConfigMap has gone; what is not ours under its name is left alone, and
/// reported. Needs: list, watch and patch of widgets, patch of widgets/status, list, watch, create, update and delete
/// of configmaps, create and patch of events, and get, create and update of leases.
class WidgetController {
 public:
  static constexpr std::string_view finalizer = "example.com/configmap";
  static constexpr std::string_view owned = "example.com/widget";

  explicit WidgetController(kube::Manager& manager)
      : api_(manager.api()),
        events_(manager.events()),
        widgets_(manager.caches().acquire({.resource = widgets})),
        maps_(manager.caches().acquire(
            {.resource = kube::resources::config_maps, .selection = {.label_selector = std::string(owned)}})),
        controller_(manager.environment(), {.name = "widget"},
                    [this](kube::WorkKey key) { return reconcile(std::move(key)); }) {
    controller_.watch(widgets_);
    // A change or deletion of a ConfigMap makes its Widget due.
    controller_.watch(maps_, kube::to_owner(widgets));
    manager.add([this] { return controller_.run(); });
  }

 private:
  boost::asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key) {
    const auto widget = widgets_->find(key.object);
    if (!widget) co_return kube::Outcome::done();
    if (widget->is_deleting()) co_return co_await tear_down(*widget);
    KUBE_CO_TRYV(co_await kube::add_finalizer(api_, *widgets_, *widget, finalizer));
    KUBE_CO_TRY(ready, co_await ensure_map(*widget));
    KUBE_CO_TRYV(co_await tell(*widget, ready));
    co_return kube::Outcome::done();
  }

  boost::asio::awaitable<kube::Outcome> tear_down(kube::Object widget) {
    if (!widget.has_finalizer(finalizer)) co_return kube::Outcome::done();
    if (const auto map = maps_->find(widget.key())) {
      auto removed = co_await api_.remove(kube::resources::config_maps, widget.key(), {.uid = std::string(map->uid())});
      if (!removed && !removed.error().is_not_found()) co_return kube::Outcome::retry(std::move(removed.error()));
    }
    KUBE_CO_TRYV(co_await kube::remove_finalizer(api_, *widgets_, std::move(widget), finalizer));
    co_return kube::Outcome::done();
  }

  /// Whether the ConfigMap is as it should be; false if an object that is not ours has its name.
  boost::asio::awaitable<kube::Result<bool>> ensure_map(kube::Object widget) {
    const std::string colour(kube::string_at(widget.spec(), {"colour"}));
    auto map = maps_->find(widget.key());
    if (map && kube::string_at(map->tree(), {"data", "colour"}) == colour) co_return true;
    if (!map) {
      kube::Object wanted = kube::Object::make(kube::resources::config_maps, widget.key());
      wanted.set_label(owned, "true");
      wanted.add_owner_reference({.api_version = widgets.api_version(),
                                  .kind = std::string(widgets.kind),
                                  .name = std::string(widget.name()),
                                  .uid = std::string(widget.uid()),
                                  .controller = true});
      wanted.tree()["data"] = kube::json::object{{"colour", colour}};
      auto created = co_await api_.create(kube::resources::config_maps, wanted);
      // The answer to an earlier create may have been lost, and then it is ours.
      if (!created && created.error().is_already_exists())
        created = co_await api_.get(kube::resources::config_maps, widget.key());
      if (!created) co_return std::unexpected(std::move(created.error()));
      if (!created->has_label(owned)) {
        events_.warning(widget, widgets, "NameTaken", "there is a ConfigMap of that name that is not this Widget's");
        co_return false;
      }
      maps_->observe(*created);
      if (kube::string_at(created->tree(), {"data", "colour"}) == colour) co_return true;
      map = std::move(*created);
    }
    map->tree()["data"] = kube::json::object{{"colour", colour}};
    KUBE_CO_TRY(replaced, co_await api_.replace(kube::resources::config_maps, *map));
    maps_->observe(std::move(replaced));
    co_return true;
  }

  boost::asio::awaitable<kube::Result<void>> tell(const kube::Object& widget, bool ready) {
    const kube::json::object status{{"observedGeneration", kube::int_at(widget.tree(), {"metadata", "generation"})},
                                    {"ready", ready}};
    if (widget.status() == status) co_return kube::Result<void>();
    const kube::json::object patch{{"status", status}};
    KUBE_CO_TRYV(co_await kube::merge_patch(
        api_, *widgets_, widget.key(),
        {.body = kube::json::serialize(patch), .phase = "writing the status", .options = {.subresource = "status"}}));
    co_return kube::Result<void>();
  }

  kube::Api& api_;
  kube::EventRecorder& events_;
  kube::InformerHandle widgets_, maps_;
  kube::Controller controller_;
};

}  // namespace example
