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

namespace liqo::reflector {

class ReflectedNamespace;

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
  /// Sets the one handler of this kind's references. It must not suspend.
  void on_references(ReferencesHandler handler) { context_.on_references = std::move(handler); }
  /// Tells whether set_references() has been told all there is: until then no copy goes for want of references.
  void set_references_known(std::function<bool()> known) { context_.references_known = std::move(known); }
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
  const reflection::ReflectedKind& kind() const { return context_.kind; }

 private:
  using Shared = std::shared_ptr<ReflectedNamespace>;  ///< it may be stopped while something of it is awaited

  asio::awaitable<kube::Outcome> reconcile(kube::WorkKey key);
  /// The namespace of that name at home; null = it is not reflected.
  Shared find(const std::string& local) const;
  /// Watches the metadata of the kind at home, of all namespaces.
  void watch_home();
  void start_reading();
  /// Lets the next one be read that waits, once less is held.
  void read_next();

  NamespaceContext context_;
  std::map<std::string, Shared> namespaces_;  ///< by local namespace
  kube::Controller controller_;
};

}  // namespace liqo::reflector
