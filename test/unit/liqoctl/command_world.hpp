// Runs commands of liqoctl on virtual time, against API servers in memory.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/command_line.hpp"
#include "command_line/terminal.hpp"
#include "core/common/peer_names.hpp"
#include "kube/k8s/object.hpp"
#include "kube/testing/fake/api_server.hpp"
#include "kube/testing/link/sim_link.hpp"
#include "kube/testing/sim/simulator.hpp"
#include "support/temporary_directory.hpp"

namespace liqoctl::test {

class TestCluster;

/// The ConfigMap with the ID of a cluster.
inline const kube::ObjectKey cluster_id{"liqo", std::string(liqo::core::cluster_id_config_map)};

/// The exit code of a command, and its output.
struct Done {
  int code = 0;
  std::string out, err;
};

/// A machine from which commands are run, without a terminal unless `traits` says so.
class CommandWorld {
 public:
  TerminalTraits traits;
  std::string typed;  ///< the user's answer to a question

  /// Runs the program with these words, which blanks separate. `--kubeconfig` and `--remote-kubeconfig` name the
  /// cluster at home and the provider's.
  Done run(std::string_view words);
  Done run(std::string_view words, const TestCluster& home);
  Done run(std::string_view words, const TestCluster& home, const TestCluster& provider);
  /// Runs a coroutine that is no command, with the cluster at home.
  Done run(Run command, const TestCluster& home);

  kube::testing::Simulator& simulator() { return simulator_; }
  const kube::test::TemporaryDirectory& files() const { return files_; }

 private:
  friend class TestCluster;
  Done run(Run command, const CommonFlags& flags);

  kube::testing::Simulator simulator_{1};
  kube::test::TemporaryDirectory files_;
  std::map<std::string, TestCluster*> clusters_;  ///< by the address of its server
};

/// A cluster with the name `name`, which has Liqo's kinds, its ID, and the objects of the test.
class TestCluster {
 public:
  TestCluster(CommandWorld& world, std::string name);

  /// Stores the ConfigMap `cluster_id`, as liqod does as soon as it runs. A new TestCluster has it.
  void add_id();
  /// Stores an object as it is, with its status and the other fields in `rest` (JSON).
  void add(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view rest = "{}");
  /// Merges JSON (RFC 7386) into an existing object.
  void change(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view patch);
  void remove(const kube::Resource& resource, const kube::ObjectKey& key);
  bool has(const kube::Resource& resource, const kube::ObjectKey& key);
  /// A copy of an existing object.
  kube::Object get(const kube::Resource& resource, const kube::ObjectKey& key);
  /// The namespace of a peer, as liqoctl peer makes it. Returns its name.
  std::string add_tenant_namespace(const std::string& peer);
  /// The number of writes that have reached it.
  std::size_t writes() const { return server_.writes().size(); }

  const std::string& name() const { return name_; }
  /// The address of its server: "127.0.0.1:6443".
  const std::string& address() const { return address_; }
  std::string kubeconfig() const { return world_.files().at(name_ + ".yaml"); }
  /// Writes the kubeconfig, with these fields of its user (JSON) and this name of its cluster.
  void write_kubeconfig(std::string_view user = "{}", std::string_view cluster_name = {}) const;
  kube::testing::FakeApiServer& server() { return server_; }
  kube::testing::SimLink& link() { return link_; }
  CommandWorld& world() { return world_; }

  // The differences from a server that answers every request at once, by the paths that are read.
  std::set<std::string, std::less<>> forbidden;
  std::set<std::string, std::less<>> endless;  ///< lists that begin, go on, and never end
  std::set<std::string, std::less<>> broken;   ///< reading these breaks the connection
  bool is_locked = false;                      ///< it knows no user
  bool is_gone = false;                        ///< no server listens at its address
  std::string unreviewed;                      ///< the webhook that cannot be called about any change
  std::chrono::seconds ahead{0};               ///< how far its clock is ahead
  std::function<void(std::string_view path)> before_reading;
  std::vector<std::string> asked;  ///< paths that were read
  std::set<std::string> tokens;    ///< the tokens of its callers

 private:
  CommandWorld& world_;
  std::string name_, address_;
  kube::testing::FakeApiServer server_;
  kube::testing::SimLink link_;
};

/// The JSON of a text that is valid.
kube::json::value parsed(std::string_view text);
/// Whether a line of the text begins with this regular expression.
bool has_line(const std::string& text, const std::string& begin);
/// The words of each line.
std::vector<std::vector<std::string>> words_of(const std::string& text);

}  // namespace liqoctl::test
