// The tree of commands: what may be typed, with help for all of it. Commands add themselves (commands/*.cpp).
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "session.hpp"

namespace liqoctl {

/// Exit codes of every command.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failed = 1;  ///< told in one line on standard error
inline constexpr int usage = 2;   ///< the command line is wrong; nothing was tried
inline constexpr int interrupted = 130;
}  // namespace exit_code

using Answer = asio::awaitable<Result<void>>;
using Run = std::function<Answer(Session&)>;

/// What the values of an argument are, for completion.
enum class Candidates {
  none,
  peers,
  tenants,
  slices,
  virtual_nodes,
  identities,
  namespaces,
  offloaded_namespaces,
};

/// How `-n` is meant by a command.
enum class Namespaces { none, liqo, object };

/// What a command has beside its own flags.
struct CommandTraits {
  Namespaces namespaces = Namespaces::object;
  bool two_clusters = false;
  bool writes = false;         ///< has --dry-run, --global-labels, --global-annotations
  bool prints = false;         ///< has -o json|yaml
  bool prints_tables = false;  ///< has -o json|yaml|wide|name
  bool asks = false;           ///< says so in its help; --skip-confirm is on every command
  kube::Duration timeout{};    ///< default of --timeout; 0 = has no such flag
  Candidates argument = Candidates::none;
  std::vector<std::string> aliases = {};
  std::string examples = {};  ///< lines below the help
};

/// The command line of one run. Not copied: options hold references into it.
class CommandLine {
 public:
  explicit CommandLine(std::string program);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  CLI::App& root() { return root_; }
  CommonFlags& flags() { return flags_; }
  /// The command whose name is a verb ("create") and that only has sub-commands; made when it is first asked for.
  CLI::App& verb(const std::string& name);
  /// A command that does something. `what` begins with a capital and has no full stop at its end.
  CLI::App& command(CLI::App& parent, const std::string& name, const std::string& what, CommandTraits traits, Run run);

  /// What a command that was added by hand does.
  void set_command(CLI::App& app, Run run);

  struct Parsed {
    Run run;  ///< empty: there is nothing more to do than to end with `code`
    int code = exit_code::ok;
  };
  /// Prints help or the mistake by itself.
  Parsed parse(int argc, char** argv);

  /// What may follow these words (the last one is the beginning of what is being typed): words of the tree, and what
  /// kind of names of the cluster.
  struct Completion {
    std::vector<std::string> words;
    Candidates candidates = Candidates::none;
  };
  Completion complete(const std::vector<std::string>& typed);

 private:
  void add_common(CLI::App& app, bool shown);
  void add_connection(CLI::App& app, ConnectionFlags& flags, const std::string& prefix, const std::string& group,
                      bool shown);
  int tell(const CLI::ParseError& mistake);

  std::string program_;
  CLI::App root_;
  CommonFlags flags_;
  Run chosen_;
  std::map<std::string, CLI::App*> verbs_;
  std::map<const CLI::App*, Candidates> arguments_;
};

/// A flag that takes one value at each occurrence, and may occur again.
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& into, const std::string& what);
/// A flag that takes a duration such as 2m.
CLI::Option* add_duration(CLI::App& app, const std::string& name, kube::Duration& into, const std::string& what);
/// `--remote-cluster-id`, required.
CLI::Option* add_remote_cluster_id(CLI::App& app, std::string& into,
                                   const std::string& what = "ID of the other cluster");

}  // namespace liqoctl
