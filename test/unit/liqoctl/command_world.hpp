// Commands of liqoctl on virtual time, against API servers in memory.
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

/// How a command ended, and what it said.
struct Done {
  int code = 0;
  std::string out, err;
};

/// A machine from which commands are run, without a terminal unless `traits` says so.
class CommandWorld {
 public:
  TerminalTraits traits;
  std::string typed;  ///< what whoever is asked answers

  /// Runs the program with these words, which blanks separate; the cluster at home and the provider's are named by
  /// `--kubeconfig` and `--remote-kubeconfig`.
  Done run(std::string_view words);
  Done run(std::string_view words, const TestCluster& home);
  Done run(std::string_view words, const TestCluster& home, const TestCluster& provider);
  /// Runs what no command does, with the cluster at home.
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

/// A cluster that is called `name`, in which Liqo's kinds and its ID are, and what a test puts there.
class TestCluster {
 public:
  TestCluster(CommandWorld& world, std::string name);

  /// Stores the ConfigMap `cluster_id`, as liqod does as soon as it runs. A new TestCluster has it.
  void add_id();
  /// Stores an object as it is, with its status and whatever else `rest` (JSON) has.
  void add(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view rest = "{}");
  /// Merges (RFC 7386) into an object that is there.
  void change(const kube::Resource& resource, const kube::ObjectKey& key, std::string_view patch);
  void remove(const kube::Resource& resource, const kube::ObjectKey& key);
  bool has(const kube::Resource& resource, const kube::ObjectKey& key);
  /// A copy of an object that is there.
  kube::Object get(const kube::Resource& resource, const kube::ObjectKey& key);
  /// The namespace of a peer, as liqoctl peer makes it; answers its name.
  std::string add_tenant_namespace(const std::string& peer);
  /// How many writes have reached it.
  std::size_t writes() const { return server_.writes().size(); }

  const std::string& name() const { return name_; }
  /// Of its server: "127.0.0.1:6443".
  const std::string& address() const { return address_; }
  std::string kubeconfig() const { return world_.files().at(name_ + ".yaml"); }
  /// Writes the kubeconfig, with what its user and its cluster are to be (JSON).
  void write_kubeconfig(std::string_view user = "{}", std::string_view cluster_name = {}) const;
  kube::testing::FakeApiServer& server() { return server_; }
  kube::testing::SimLink& link() { return link_; }
  CommandWorld& world() { return world_; }

  // How it differs from a server that answers everybody at once, by the paths that are read.
  std::set<std::string, std::less<>> forbidden;
  std::set<std::string, std::less<>> endless;  ///< lists that begin, go on, and never end
  std::set<std::string, std::less<>> broken;   ///< reading these breaks the connection
  bool is_locked = false;                      ///< it knows nobody
  bool is_gone = false;                        ///< nobody listens at its address
  std::string unreviewed;                      ///< the webhook that no change can be asked for
  std::chrono::seconds ahead{0};               ///< by so much its clock
  std::function<void(std::string_view path)> before_reading;
  std::vector<std::string> asked;  ///< paths that were read
  std::set<std::string> tokens;    ///< by which it was asked

 private:
  CommandWorld& world_;
  std::string name_, address_;
  kube::testing::FakeApiServer server_;
  kube::testing::SimLink link_;
};

/// The JSON of a text that is valid.
kube::json::value parsed(std::string_view text);
/// Whether a line of the text begins so (as a regular expression).
bool has_line(const std::string& text, const std::string& begin);
/// The words of each line.
std::vector<std::vector<std::string>> words_of(const std::string& text);

}  // namespace liqoctl::test
