#include "core/reflection/contest.hpp"

#include <algorithm>

namespace liqo::core::reflection {

std::optional<Overwriter> overwriter(const kube::Object& object, std::string_view manager) {
  std::string_view ours, newest, name;
  const kube::json::array& entries = kube::array_at(object.tree(), {"metadata", "managedFields"});
  for (const kube::json::value& entry : entries)
    if (kube::string_at(entry, {"manager"}) == manager) ours = std::max(ours, kube::string_at(entry, {"time"}));
  for (const kube::json::value& entry : entries) {
    const std::string_view time = kube::string_at(entry, {"time"});
    if (kube::string_at(entry, {"manager"}) == manager || !kube::string_at(entry, {"subresource"}).empty()) continue;
    // Times are whole seconds in RFC 3339, of one clock.
    if (time.empty() || time < ours || time < newest) continue;
    newest = time;
    name = kube::string_at(entry, {"manager"});
  }
  if (newest.empty()) return std::nullopt;
  return Overwriter{.manager = std::string(name), .time = std::string(newest)};
}

Contest::Verdict Contest::judge(const Sight& sight, kube::TimePoint now) {
  const bool is_same = !has_failed_ && (sight.was_written || sight.wish == wish_);
  // Their managedFields stay as they are if a webhook, and not they, changes what we write.
  const bool is_news = sight.at.empty() || sight.at != counted_;
  if (has_rested(now)) {
    given_up_until_.reset();
    was_given_up_ = true;
    overwritings_.clear();
  } else if (given_up_until_) {
    has_news_ = !is_same;
    if (is_same || now - last_ < window) return Verdict::leave;
    has_news_ = false;
  } else if (is_same && sight.is_overwritten && is_news) {
    counted_ = sight.at;
    std::erase_if(overwritings_, [now](kube::TimePoint at) { return now - at > window; });
    overwritings_.push_back(now);
    if (was_given_up_ || overwritings_.size() >= max_overwritings) {
      overwritings_.clear();
      given_up_until_ = now + rest;
      wish_ = sight.wish;
      last_ = now;
      return Verdict::give_up;
    }
  }
  has_failed_ = false;
  wish_ = sight.wish;
  last_ = now;
  return Verdict::write;
}

std::optional<kube::Duration> Contest::leaves_for(kube::TimePoint now) const {
  if (!given_up_until_) return std::nullopt;
  const kube::TimePoint until = has_news_ ? std::min(*given_up_until_, last_ + window) : *given_up_until_;
  return std::max(kube::Duration::zero(), kube::Duration(until - now));
}

bool Contest::is_over(kube::TimePoint now) const {
  return now - (given_up_until_ ? *given_up_until_ : last_) > 2 * window;
}

}  // namespace liqo::core::reflection
