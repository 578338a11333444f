// The effectful half of reflection: keeps the copies of one kind of object in the twin namespaces of one provider.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/common/counters.hpp"
#include "controllers/reflection/copies.hpp"
#include "core/reflection/policy.hpp"
#include "core/reflection/reflection_filters.hpp"
#include "kube/async/slots.hpp"
#include "kube/runtime/controller.hpp"
#include "kube/runtime/environment.hpp"
#include "kube/runtime/event_recorder.hpp"
#include "kube/runtime/informer_set.hpp"

namespace liqo::reflector {

namespace asio = boost::asio;

/// What a Reflector works with; everything outlives it.
struct ReflectorContext : kube::Environment {
  kube::InformerSet& home;
  kube::Api& provider;
  kube::StoreBudget& stores;    ///< what is held of the provider
  kube::EventRecorder& events;  ///< of the home cluster
  /// Whether what comes home of copies in the twin of a namespace is to come from this provider; null = it is.
  std::function<bool(const std::string& local)> brings_home = nullptr;
  /// Takes a write at home that the provider's word is the cause of, with the bytes of the object that is written, and
  /// answers how long its turn has to be waited for; null = nothing bounds these.
  std::function<kube::Duration(std::size_t bytes)> home_write = nullptr;
  /// Whether hardly anything can happen in the twin of a namespace; null = that is not so.
  std::function<bool(const std::string& local)> is_quiet = nullptr;
  /// Called when something was copied there, or found to be.
  std::function<void(const std::string& local)> copied = nullptr;
  /// Taken for each list at home; null = nothing bounds how many run at a time.
  kube::async::Slots* home_lists = nullptr;
  /// Whether it may begin to reconcile; once it is true it does. Null = at once.
  std::function<bool()> may_begin = nullptr;
};

/// What is known of an object of a twin namespace.
struct FoundCopy {
  std::string name;      ///< of the object at home of which it is the copy; "" = it is none, or it is not known
  bool is_known = true;  ///< false: it has not been looked at since it was seen to have changed
};

/// Keeps the copies of one kind at one provider, in the twins of any number of namespaces. Level-triggered; one thread.
///
/// A Reflector has one watch of metadata at home, for all namespaces, and none at the provider, however many twins
/// there are. The content of an object is read when it has changed, and not kept. Of the copies only UID and version
/// are known: from the answers to writes, and from a list of metadata of each twin that holds any, every 20 s or so. A
/// kind that is reflected only where something refers to it is not watched at home, but listed in the same way, also
/// where all objects of a namespace are wanted. Where something of the copies comes home, those of a twin in which
/// something happens are compared after two seconds already, then less and less often.
///
/// Guarantees: nothing is written in a twin before both sides of it have been read. An object of somebody else is
/// neither changed nor kept, also where it appears between the reading and the writing. A copy that an earlier process
/// has sent, and that is made after the twin was read, is found. A copy that somebody changes or deletes is right again
/// within 30 s, and where its twin is quiet within 6 minutes. A copy that nothing refers to any more stays for five
/// minutes, because pods come and go, and one that the Go version made stays.
class Reflector {
 public:
  Reflector(const reflection::ReflectedKind& kind, reflection::SelectionPolicy policy, core::ForgingContext forging,
            ReflectorContext context);
  ~Reflector();

  /// Begins to reflect a namespace. Idempotent for the same twin.
  void start_namespace(const std::string& local, const std::string& remote);
  /// Ends the reflection of a namespace. Its copies stay as they are: the twin namespace is removed as a whole.
  void stop_namespace(const std::string& local);
  /// Which objects of a namespace others refer to, of a kind that is reflected only then. `all`: every object of the
  /// namespace counts as one of them, but under an AllowList.
  void set_references(const std::string& local, const std::set<std::string>& names, bool all = false);
  /// Called with the Secrets that an object of this kind, which is reflected, refers to; none = it is not, or no more.
  using ReferencesHandler =
      std::function<void(const std::string& ns, const std::string& name, std::vector<std::string> secrets)>;
  /// Sets the one handler of this kind's references. It must not suspend.
  void on_references(ReferencesHandler handler) { on_references_ = std::move(handler); }
  /// Tells whether set_references() has been told all there is: until then no copy goes for want of references.
  void set_references_known(std::function<bool()> known) { references_known_ = std::move(known); }
  /// What copies are made by from now on; what is there already is brought in line.
  void set_forging(core::ForgingContext forging);
  /// Sets which objects are reflected from now on, and how many are worked on at a time. Where that is none, the owner
  /// stops the namespaces.
  void set_policy(reflection::KindPolicy policy);
  /// Considers the objects of a namespace anew, or with "" those of all: something that forging looks up has changed.
  void reconsider(const std::string& local = {});
  /// Looks anew at what comes home of the copies of a namespace: `brings_home` may answer otherwise now.
  void gather_anew(const std::string& local);
  /// Reconciles until cancelled. What was known of copies before is read anew: another process may have led meanwhile.
  asio::awaitable<void> run();
  /// Whether anything of a namespace is copied beside what every namespace has by itself.
  bool has_copies(const std::string& local) const;
  /// Whether nothing of a namespace is copied or wanted beside what every namespace has by itself.
  bool is_quiet(const std::string& local) const;
  /// A twin that was quiet is to be looked at.
  void end_quiet(const std::string& local);
  /// What an object in the twin of a namespace is, by its name there and UID.
  FoundCopy find_copy(const std::string& local, const std::string& remote_name, std::string_view uid) const;
  /// True while objects are due or being worked on.
  bool is_busy() const { return controller_.is_busy(); }
  /// The kind that is reflected, as its table describes it.
  const reflection::ReflectedKind& kind() const { return kind_; }

 private:
  struct Namespace;
  struct Looked;
  using Shared = std::shared_ptr<Namespace>;  ///< it may be stopped while something of it is awaited

  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// Reads both sides of a namespace, the first time, and then how its copies are.
  asio::awaitable<kube::Outcome> look_at(Shared ns);
  /// Before a list is asked for at home.
  asio::awaitable<std::optional<kube::async::Slots::Slot>> take_home_slot() const;
  asio::awaitable<kube::Result<void>> read_home(Shared ns);
  /// Which versions the objects at home have, of a kind that is not watched there.
  asio::awaitable<kube::Result<void>> list_home(Shared ns);
  /// Whether the object is there at home and is to be reflected, though the last list says otherwise.
  asio::awaitable<kube::Result<bool>> find_unlisted(Shared ns, std::string name);
  asio::awaitable<kube::Result<void>> read_copies(Shared ns);
  asio::awaitable<kube::Result<void>> check_copies(Shared ns);
  /// Brings one object's copy in line.
  asio::awaitable<kube::Outcome> reflect(Shared ns, std::string name);
  /// Begins a look at an object, and ends it where neither side has to be read: with that Outcome. Nothing = the look
  /// goes on.
  std::optional<kube::Outcome> end_without_reading(Namespace& ns, Looked& of);
  /// Sets the copy that is wanted of the object, by what is known now.
  void forge(const Namespace& ns, Looked& of) const;
  /// Ends the look where the copy is known to be what is wanted: notes the version of its source, or waits until what
  /// comes home may be compared again. Nothing = the look goes on.
  std::optional<kube::Outcome> end_if_as_wished(Namespace& ns, const Looked& of);
  asio::awaitable<kube::Outcome> carry_out(Shared ns, Looked of, reflection::ReflectionPlan plan);
  /// For how long a copy that is not wanted stays, of a kind that is reflected where something refers to it; nothing =
  /// it may go.
  asio::awaitable<kube::Result<std::optional<kube::Duration>>> stays_for_now(Shared ns, std::string name,
                                                                             bool was_at_home);
  asio::awaitable<kube::Outcome> take_away(Shared ns, Looked of, reflection::reflection_action::Remove remove);
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_source(Shared ns, std::string name);
  asio::awaitable<kube::Result<std::optional<kube::Object>>> read_copy(Shared ns, std::string name);
  asio::awaitable<kube::Outcome> apply(Shared ns, kube::Object local, reflection::reflection_action::Apply wanted);
  /// Takes away what others have added to a copy.
  asio::awaitable<kube::Outcome> trim(Shared ns, kube::Object local, kube::Object remote, std::string patch);
  asio::awaitable<kube::Outcome> give_back(Shared ns, std::string name);
  /// Brings the status of the copy of that name home, and answers the version of the object then; or how the look ends,
  /// because that could not be done, or not yet.
  asio::awaitable<std::expected<std::uint64_t, kube::Outcome>> gather(Shared ns, kube::Object local,
                                                                      std::string remote_name,
                                                                      kube::json::value status);
  /// How long a write at home, which a copy is the cause of, has to wait; 0 = it may be made now. Whoever waits holds
  /// nothing of it.
  kube::Duration take_turn(Namespace& ns, const std::string& name, std::size_t bytes) const;
  void tell_not_gathered(Namespace& ns, const kube::Object& local, const kube::Failure& failure);
  /// When that is tried again which could not be brought home.
  kube::Outcome not_gathered(Namespace& ns, const std::string& remote_name, kube::Failure failure);

  /// What is known of an object at home that may be reflected: its version, 0 where that is not known; nothing where
  /// there is none.
  std::optional<std::uint64_t> version_at_home(const Namespace& ns, const std::string& name) const;
  bool is_referred(const Namespace& ns, const std::string& name) const;
  /// Objects are reflected to which nothing refers.
  bool takes_all(const Namespace& ns) const;
  bool has_constant_copies_alone(const Namespace& ns) const;
  /// Whether nothing is copied, and nothing is wanted, but what every namespace has by itself.
  bool is_constant(const Namespace& ns) const;
  bool is_known_at_home() const;
  void tell_references(Namespace& ns, const std::string& name, const kube::Object* reflected);
  /// Tells once that a copy goes without the notes of controllers of home.
  void tell_notes(Namespace& ns, const kube::Object& local);
  void tell_left_out(Namespace& ns, const std::string& name, const kube::Object* reflected);
  void forget_references(Namespace& ns);
  /// No longer all are wanted: pods may come back for what they use, or need it until they have gone.
  void keep_for_now(Namespace& ns);
  /// How long a copy stays though nothing is known to refer to its object; nothing = it may go.
  std::optional<kube::Duration> stays_for(const Namespace& ns, const std::string& name) const;
  void start_reading();
  /// Whether a namespace is to be read later, because what was read of others is still being worked on. It is told.
  std::optional<kube::Duration> waits_for_others(Namespace& ns);
  /// Whether its copies are compared later, because others have none yet.
  bool is_put_off(const Namespace& ns) const;
  /// Lets the next one be read that waits, once less is held.
  void read_next();
  /// Considers the objects of a namespace anew, spread over that time: something else than a change at home concerns
  /// them.
  void reconsider(Namespace& ns, kube::Duration spread);
  void enqueue(const Namespace& ns, std::string name);
  /// Something has happened to copies, of which more is to come home.
  void look_soon(Namespace& ns);
  /// Nothing of the kind is reflected: what copies there are go.
  bool is_off() const { return kind_.needs_endpoints && !forging_.endpoints; }
  /// How long an object is not to be looked at yet, because it was a moment ago; 0 or less: it may be.
  kube::Duration rests_for(const Namespace& ns, const std::string& name) const;
  void enqueue_all(const Namespace& ns);
  void enqueue_copy(const Namespace& ns, std::string_view remote_name);
  bool is_current(const Namespace& ns) const;
  ReflectionSeries series_of(const Namespace& ns) const;

  const reflection::ReflectedKind& kind_;
  reflection::SelectionPolicy policy_;
  core::ForgingContext forging_;
  ReflectorContext context_;
  ReferencesHandler on_references_;
  std::function<bool()> references_known_;
  kube::InformerHandle home_;                 ///< metadata of all namespaces, from the first one that is reflected
  std::size_t held_ = 0;                      ///< bytes of content, of all namespaces
  std::map<std::string, Shared> namespaces_;  ///< by local namespace
  std::deque<std::string> unread_;            ///< namespaces that wait for others
  kube::Controller controller_;
};

}  // namespace liqo::reflector
