// The tree of commands: what may be typed, with help for all of it. Commands add themselves (commands/*.cpp).
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
inline constexpr int failed = 1;  ///< told in one line on standard error
inline constexpr int usage = 2;   ///< the command line is wrong; nothing was tried
inline constexpr int interrupted = 130;
}  // namespace exit_code

/// What a command does.
using Run = std::function<asio::awaitable<kube::Result<void>>(Session&)>;

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

/// How many clusters a command works on; the second one is the provider's.
enum class Clusters { one, one_or_two, two };

/// What `-o` of a command takes.
enum class Prints {
  nothing,  ///< it has no -o
  objects,  ///< json|yaml
  tables,   ///< json|yaml|wide|name
};

struct CommandText {
  std::string_view name;
  std::string_view what;  ///< begins with a capital and has no full stop at its end
};

/// What a command has beside its own flags.
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

/// The command line of one run. Not copied: options hold references into it.
class CommandLine {
 public:
  /// The terminal outlives it.
  CommandLine(const std::string& program, Terminal& terminal);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  cli::Command root() const { return program_.root(); }
  CommonFlags& flags() { return flags_; }
  /// A command that only has sub-commands, such as "create"; made when it is first asked for.
  cli::Command verb(const std::string& name);
  /// A command that does something.
  cli::Command command(cli::Command parent, CommandText text, const CommandTraits& traits, Run run);

  /// What a command that was added by hand does.
  void set_command(cli::Command app, Run run);
  /// Checks the flags of a command before anything is tried. A failure is a mistake of the command line.
  using Check = std::function<kube::Result<void>()>;
  void check(cli::Command app, Check check);

  struct Parsed {
    Run run;  ///< empty: there is nothing more to do than to end with `code`
    int code = exit_code::ok;
  };
  /// Prints help or the mistake by itself.
  Parsed parse(int argc, char** argv);

  /// What may follow these words, of which the last one is being typed: words of the tree, and names of the cluster.
  struct Completion {
    std::vector<std::string> words;
    Candidates candidates = Candidates::none;  ///< the kind of these names
    std::string kept;                          ///< stands before each of them: the flag with its "="
  };
  Completion complete(const std::vector<std::string>& typed) const;

 private:
  void add_common(cli::Command app, bool shown);
  /// The flags about the other cluster, which must be named where two are needed.
  void add_provider(cli::Command app, Clusters clusters);
  void add_namespaces(cli::Command app, Namespaces meant);
  int tell(const std::string& mistake) const;

  Terminal& terminal_;
  cli::Program program_;
  CommonFlags flags_;
  Run chosen_;
  std::map<std::string, cli::Command> verbs_;
  std::map<cli::Command, Candidates> arguments_;
  std::map<cli::Command, std::vector<Check>> checks_;
};

/// A flag that takes the ID of a cluster. What cannot be an ID is a mistake.
cli::Option check_cluster_id(cli::Option option);

/// `--remote-cluster-id`, required.
cli::Option add_remote_cluster_id(cli::Command app, std::string& into,
                                  std::string_view what = "ID of the other cluster");

}  // namespace liqoctl
