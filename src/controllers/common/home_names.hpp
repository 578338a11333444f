// Finds out whether pods of this cluster resolve the names that namespaces of consumers have at home.
// Tested by test/unit/controllers/common/home_names_test.cpp.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/context.hpp"
#include "controllers/common/runnable.hpp"
#include "core/namespaces/home_names_judge.hpp"
#include "kube/telemetry/log.hpp"

namespace liqo::controllers {

/// Looks the names of core/common/home_names.hpp up again and again while this process leads, each for a few seconds at
/// most and without holding up the loop. Whatever refers to it asks it when it acts. One thread.
class HomeNames final : public Runnable {
 public:
  /// Looks nothing up if the settings have no look-up: no name of home resolves then.
  explicit HomeNames(Context context);

  asio::awaitable<void> run() override;
  bool has_synced() const override { return namespaces_->has_synced() && slices_->has_synced(); }
  bool is_busy() const override { return false; }

  /// Adds a reader that is called when the answers below may have changed. Must not suspend.
  void subscribe(std::function<void()> handler) { readers_.push_back(std::move(handler)); }
  /// Whether a look-up is about to show something, or the lists that it is judged by are under way, so that it is worth
  /// waiting for: a Pod keeps what it is made with. Where consumers were told before that names resolve, that is half a
  /// minute at most, and a few seconds otherwise.
  bool is_coming() const {
    return look_up_ && ((!judge_.are_on() && looks_ < (told_.empty() ? 1 : first_looks)) || !has_synced());
  }
  /// Whether a look-up has shown something, or none is made.
  bool is_known() const { return !look_up_ || judge_.are_on(); }
  /// Whether pods of the consumer resolve names of their home; nothing = not known yet.
  std::optional<bool> are_on_for(std::string_view consumer) const;
  /// The consumer whose names the pods of a twin look up; "" if they look up none: names of home do not resolve, or the
  /// twin has the name that its namespace has at home. `twin`: any name of a namespace.
  std::string consumer_in(const std::string& twin) const;
  /// The sentence for the consumer if names with that namespace of its own lead elsewhere; "" if they do not.
  std::string words_about(const std::string& consumer, const std::string& local, const std::string& remote) const;

 private:
  /// After so many looks that have shown nothing, no Pods wait any longer.
  static constexpr int first_looks = 3;

  asio::awaitable<void> look();
  asio::awaitable<core::NameLook> look_at(std::string name);
  void see(const kube::Change& ns);
  void see_slice(const kube::Change& slice);
  void notify();
  /// Logs which consumers get no names of home because of another consumer's ID or twins.
  void log_shared() const;
  /// Notes whose twin a namespace is. Returns whether it has, or had, a name that DefaultName gives to another
  /// consumer.
  bool see_twin(const kube::Change& ns);
  /// Whether somebody else has a twin whose name ends in the consumer's ID.
  bool has_twin_of(const std::string& consumer) const;
  /// Whether names of the consumer's home may lead into twins of another one, which has had them since before the
  /// consumer was known, or by its policy.
  bool leads_to_others(const std::string& consumer) const;
  std::vector<std::string> consumers() const;

  Context context_;
  std::function<asio::awaitable<core::NameLook>(std::string name)> look_up_;
  core::HomeNamesJudge judge_;
  int looks_ = 0;                              ///< at most first_looks
  std::set<kube::ObjectKey> told_;             ///< slices whose consumers were told that names resolve
  std::map<std::string, std::string> peers_;   ///< tenant namespace to the peer's ID
  std::map<std::string, std::string> twins_;   ///< twin to its consumer
  mutable std::map<std::string, bool> leads_;  ///< the answers of leads_to_others() that were asked for
  std::vector<std::function<void()>> readers_;
  kube::Gauge resolve_;
  kube::InformerHandle namespaces_;
  kube::InformerHandle slices_;
  kube::Log log_{"home-names"};
};

}  // namespace liqo::controllers
