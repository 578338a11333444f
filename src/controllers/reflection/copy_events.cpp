#include "controllers/reflection/copy_events.hpp"

#include <algorithm>

#include "core/common/meta.hpp"
#include "kube/client/find_live.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/reasons.hpp"

namespace liqo::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Outcome;

/// The pause between two looks at a twin, so that a Warning is home within 30 s.
constexpr kube::Duration look_after = 17s, look_before = 23s;
/// By what factor a twin without copies is looked at more rarely; the first copy ends the pause.
constexpr int quiet_times = 15;
/// The pause while it is not known yet whether an object is a copy.
constexpr kube::Duration undecided_pause = 5s;
/// The pause after a provider has refused its Events.
constexpr kube::Duration no_right_pause = 10min;
/// The most Warnings that one look reads, without those about pods; more of them are the provider's own problem.
constexpr std::int64_t page_size = 250;
constexpr int max_pages = 4;
constexpr std::size_t max_bytes = 2U << 20;
constexpr const char* selector = "type=Warning,involvedObject.kind!=Pod,involvedObject.kind!=ShadowPod";

}  // namespace

CopyEvents::CopyEvents(Source source, Context context)
    : source_(std::move(source)),
      context_(context),
      controller_(
          context,
          {.name = "copy-events", .limits = {.workers = 8, .workers_per_group = 1}, .fill = [this] { begin(); }},
          [this](kube::WorkKey key) { return look(std::move(key)); }),
      log_(kube::Log("reflection").with("cluster", source_.cluster)) {}

void CopyEvents::start_namespace(const std::string& local, const std::string& remote) {
  twins_[local] = std::make_shared<Twin>(Twin{.remote = remote});
  controller_.enqueue({local, {local, {}}});
}

void CopyEvents::stop_namespace(const std::string& local) { twins_.erase(local); }

void CopyEvents::end_quiet(const std::string& local) {
  const auto found = twins_.find(local);
  if (found != twins_.end() && std::exchange(found->second->is_quiet, false)) controller_.enqueue({local, {local, {}}});
}

void CopyEvents::begin() {
  begun_ = std::chrono::floor<std::chrono::seconds>(context_.clock.wall());
  for (const auto& [local, twin] : twins_) {
    twin->warnings.reset();
    controller_.enqueue({local, {local, {}}});
  }
}

bool CopyEvents::is_current(const std::string& local, const Shared& twin) const {
  const auto found = twins_.find(local);
  return found != twins_.end() && found->second == twin;
}

asio::awaitable<Outcome> CopyEvents::look(kube::WorkKey key) {
  const std::string local = key.object.ns;
  const auto found = twins_.find(local);
  if (found == twins_.end()) co_return Outcome::done();
  const Shared twin = found->second;
  const bool has_copies = source_.has_copies(local);
  twin->is_quiet = !has_copies;
  const Outcome later =
      Outcome::again_after(context_.random.between(look_after, look_before) * (twin->is_quiet ? quiet_times : 1));
  if (!has_copies) co_return later;
  if (twin->no_right_until && context_.clock.now() < *twin->no_right_until) co_return later;

  std::vector<core::reflection::CopyWarning> warnings;
  std::string version;
  kube::ListOptions options{.selection = {.field_selector = selector}, .limit = page_size};
  // kube::list_all reads any number of bytes, and the provider decides how large its Events are.
  for (int pages = 0; pages < max_pages; ++pages) {
    auto page = co_await source_.provider.list(kube::resources::events, twin->remote, options, max_bytes);
    if (!page && page.error().is_forbidden()) {
      if (!twin->no_right_until)
        log_.info(
            "the provider does not let this cluster read the Events of a twin: what it warns of about copies is not "
            "reported here",
            {{"twin", twin->remote}, {"error", page.error()}});
      twin->no_right_until = context_.clock.now() + no_right_pause;
      co_return later;
    }
    if (!page) {
      log_.debug("the Events of a twin were not read", {{"twin", twin->remote}, {"error", page.error()}});
      co_return later;
    }
    std::ranges::move(core::reflection::copy_warnings(page->items), std::back_inserter(warnings));
    if (version.empty()) version = page->resource_version;
    if (page->continue_token.empty()) break;
    options.continue_token = std::move(page->continue_token);
  }
  twin->no_right_until.reset();
  if (!is_current(local, twin)) co_return Outcome::done();
  // The times of Events are those of the provider's clock.
  if (!twin->warnings)
    twin->warnings.emplace(begun_ + source_.provider.clock_ahead().value_or(std::chrono::seconds(0)));

  std::ranges::sort(warnings, {}, &core::reflection::CopyWarning::version);
  bool is_undecided = false;
  for (const core::reflection::CopyWarning& warning : warnings) {
    if (!twin->warnings->is_news(warning, context_.clock.now())) continue;
    if (!co_await report(local, twin, warning)) {
      is_undecided = true;
      twin->warnings->postpone(warning);
    }
    if (!is_current(local, twin)) co_return Outcome::done();
  }
  twin->warnings->looked(kube::version_number(version), context_.clock.now());
  if (is_undecided) co_return Outcome::again_after(undecided_pause);
  co_return later;
}

asio::awaitable<bool> CopyEvents::report(std::string local, Shared twin, core::reflection::CopyWarning warning) {
  Found found = source_.find(local, warning);
  if (warning.kind == api::kinds::claims.kind) {
    auto claim = co_await find_claim(twin->remote, warning);
    if (!claim) co_return false;
    found = std::move(*claim);
  }
  if (!found.original) co_return found.is_known;
  // The metadata of the original are enough, and a Secret's content must not be read here.
  const kube::Resource resource = found.original->resource;
  const std::string selected = kube::name_is(found.original->name);
  auto page = co_await context_.home.api().list(
      resource, local, {.selection = {.field_selector = selected}, .metadata_only = true}, max_bytes);
  if (!page) co_return false;
  for (kube::json::value& item : page->items) {
    auto object = kube::Object::from(std::move(item));
    if (!object || object->name() != found.original->name) continue;
    object->set_kind(resource);
    context_.events.warning(*object, resource, api::reasons::remote_warning,
                            core::reflection::copy_warning_message(source_.cluster, warning));
    if (twin->warnings) twin->warnings->note_reported(warning, context_.clock.now());
  }
  co_return true;
}

/// Claims have no Reflector: the provider is asked which of them are ours.
asio::awaitable<kube::Result<CopyEvents::Found>> CopyEvents::find_claim(std::string remote,
                                                                        core::reflection::CopyWarning warning) {
  KUBE_CO_TRY(claim, co_await kube::find_live(source_.provider, api::kinds::claims, {std::move(remote), warning.name}));
  const core::ClusterPair clusters{.local = context_.settings.cluster_id, .remote = source_.cluster};
  if (!claim || claim->uid() != warning.uid || !core::is_reflected(*claim, clusters)) co_return Found{};
  co_return Found{.original = Original{.resource = api::kinds::claims, .name = warning.name}};
}

}  // namespace liqo::controllers
