// The tree of commands: everything that may be typed, with its help. Commands add themselves (commands/*.cpp).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "command_line/flags.hpp"
#include "command_line/terminal.hpp"

namespace liqoctl {

class Session;

/// Exit codes of every command.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int failed = 1;  ///< the reason is one line on standard error
inline constexpr int usage = 2;   ///< the command line is wrong; nothing was tried
inline constexpr int interrupted = 130;
}  // namespace exit_code

/// The action of a command.
using Run = std::function<asio::awaitable<kube::Result<void>>(Session&)>;

/// The kind of values that completion offers for an argument.
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

/// The meaning of `-n` for a command.
enum class Namespaces { none, liqo, object };

/// The number of clusters that a command works on. The second one is the provider's.
enum class Clusters { one, one_or_two, two };

/// The formats that `-o` of a command takes.
enum class Prints {
  nothing,  ///< it has no -o
  objects,  ///< json|yaml
  tables,   ///< json|yaml|wide|name
};

struct CommandText {
  std::string_view name;
  std::string_view what;  ///< begins with a capital and has no full stop at its end
};

/// The traits of a command besides its own flags.
struct CommandTraits {
  Namespaces namespaces = Namespaces::object;
  Clusters clusters = Clusters::one;
  bool writes = false;   ///< has --dry-run
  bool creates = false;  ///< has --global-labels and --global-annotations
  Prints prints = Prints::nothing;
  kube::Duration timeout{};  ///< default of --timeout; 0 = has no such flag
  Candidates argument = Candidates::none;
  std::vector<std::string> aliases = {};
  std::string examples = {};  ///< lines below the help
};

/// The command line of one run. Not copied, because options hold references into it.
class CommandLine {
 public:
  /// The terminal outlives it.
  CommandLine(const std::string& program, Terminal& terminal);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  cli::Command root() const { return program_.root(); }
  CommonFlags& flags() { return flags_; }
  /// A command that only has sub-commands, such as "create". Created when it is first asked for.
  cli::Command verb(const std::string& name);
  /// A command that does something itself.
  cli::Command command(cli::Command parent, CommandText text, const CommandTraits& traits, Run run);

  /// Sets the action of a command that was added by hand.
  void set_command(cli::Command app, Run run);
  /// Checks the flags of a command before anything is tried. A failure is a mistake in the command line.
  using Check = std::function<kube::Result<void>()>;
  void check(cli::Command app, Check check);

  struct Parsed {
    Run run;  ///< empty: nothing is left to do but to exit with `code`
    int code = exit_code::ok;
  };
  /// Prints the help or the mistake itself.
  Parsed parse(int argc, char** argv);

  /// The candidates for the last of these words, which is being typed: words of the tree, and names in the cluster.
  struct Completion {
    std::vector<std::string> words;
    Candidates candidates = Candidates::none;  ///< the kind of these names
    std::string kept;                          ///< prefix of each of them: the flag with its "="
  };
  Completion complete(const std::vector<std::string>& typed) const;

 private:
  void add_common(cli::Command app, bool shown);
  /// The flags about the other cluster, which are required if the command needs two.
  void add_provider(cli::Command app, Clusters clusters);
  void add_namespaces(cli::Command app, Namespaces meant);
  int report_mistake(const std::string& mistake) const;

  Terminal& terminal_;
  cli::Program program_;
  CommonFlags flags_;
  Run chosen_;
  std::map<std::string, cli::Command> verbs_;
  std::map<cli::Command, Candidates> arguments_;
  std::map<cli::Command, std::vector<Check>> checks_;
};

/// Makes the option take the ID of a cluster. A text that cannot be an ID is a mistake.
cli::Option check_cluster_id(cli::Option option);

/// `--remote-cluster-id`, required.
cli::Option add_remote_cluster_id(cli::Command app, std::string& into,
                                  std::string_view what = "ID of the other cluster");

}  // namespace liqoctl
