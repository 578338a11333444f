// The effectful half of reflection: keeps the copies of one kind of object in the twin namespaces of one provider.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "controllers/reflection/namespace_context.hpp"
#include "controllers/reflection/twin_objects.hpp"
#include "kube/runtime/controller.hpp"

namespace liqo::controllers {

class ReflectedNamespace;

/// Keeps the copies of one kind at one provider, in the twins of any number of namespaces. Level-triggered; one thread.
///
/// A Reflector has one watch of metadata at home, for all namespaces, and none at the provider, however many twins
/// there are. The content of an object is read when it has changed, and not kept. Only UID and version of the copies
/// are known: from the answers to writes, and from a list of metadata of each twin that has any, every 20 s or so. A
/// kind that is reflected only if something refers to it is not watched at home, but listed in the same way, even if
/// all objects of a namespace are wanted. If a status comes home from copies, those of an active twin are compared
/// after only two seconds, and then less and less often.
///
/// Guarantees: nothing is written in a twin before both sides of it have been read. An object of another owner is
/// neither changed nor held, even if it appears between the reading and the writing. A copy whose create an earlier
/// process has sent is found, even if it is carried out after the twin was read. A copy that others change or delete is
/// right again within 30 s, or within 6 minutes if its twin is quiet. A copy to which nothing refers any more stays for
/// five minutes, because pods come and go; one that the Go version made stays for good.
class Reflector {
 public:
  Reflector(const core::reflection::ReflectedKind& kind, core::reflection::SelectionPolicy policy,
            core::ForgingContext forging, ReflectorContext context);
  ~Reflector();

  /// Begins to reflect a namespace. Idempotent for the same twin.
  void start_namespace(const std::string& local, const std::string& remote);
  /// Ends the reflection of a namespace. Its copies stay as they are: the twin namespace is removed as a whole.
  void stop_namespace(const std::string& local);
  /// Sets which objects of a namespace others refer to, of a kind that is reflected only then. `all`: every object of
  /// the namespace counts as one of them, except under an AllowList. `by_pods`: those that pods name themselves.
  void set_references(const std::string& local, const std::set<std::string>& names, bool all = false,
                      const std::set<std::string>& by_pods = {});
  /// Sets the one handler of this kind's references. It must not suspend.
  void on_references(ReferencesHandler handler) { context_.on_references = std::move(handler); }
  /// Sets a function that returns whether set_references() has been called with everything there is: until then no copy
  /// is removed for lack of references.
  void set_references_known(std::function<bool()> known) { context_.references_known = std::move(known); }
  /// Sets how copies are forged from now on; existing copies are updated.
  void set_forging(core::ForgingContext forging);
  /// Sets which objects are reflected from now on, and how many are worked on at a time. If that number is 0, the owner
  /// stops the namespaces.
  void set_policy(core::reflection::KindPolicy policy);
  /// Looks again at the objects of a namespace, or with "" of all, because something that forging looks up has changed.
  void reconsider(const std::string& local = {});
  /// Brings the statuses of a namespace's copies home again, because `brings_home` may return something else now.
  void gather_anew(const std::string& local);
  /// Reconciles until cancelled. What was known of copies before is read again: another process may have led meanwhile.
  asio::awaitable<void> run();
  /// Whether any object of a namespace is copied, besides those that every namespace has by itself.
  bool has_copies(const std::string& local) const;
  /// Whether no object of a namespace is copied or wanted, besides those that every namespace has by itself.
  bool is_quiet(const std::string& local) const;
  /// Looks at a twin that is no longer quiet.
  void end_quiet(const std::string& local);
  /// Identifies an object in the twin of a namespace, by its name there and its UID.
  FoundCopy find_copy(const std::string& local, const std::string& remote_name, std::string_view uid) const;
  /// True while objects are due or being worked on.
  bool is_busy() const { return controller_.is_busy(); }
  /// The kind that is reflected, as its table describes it.
  const core::reflection::ReflectedKind& kind() const { return context_.kind; }

 private:
  using Shared = std::shared_ptr<ReflectedNamespace>;  ///< it may be stopped while a coroutine uses it

  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// The namespace of that name at home; null = it is not reflected.
  Shared find(const std::string& local) const;
  /// Watches the metadata of the kind at home, of all namespaces.
  void watch_home();
  void start_reading();
  /// Has the next waiting namespace read, once less is held.
  void read_next();

  NamespaceContext context_;
  std::map<std::string, Shared> namespaces_;  ///< by local namespace
  kube::Controller controller_;
};

}  // namespace liqo::controllers
