// liqoctl completion: scripts for shells, and the hidden command that these scripts run at each press of the Tab key.
#include <sstream>

#include "command_line/command_line.hpp"
#include "commands/commands.hpp"
#include "liqo/api/kinds.hpp"
#include "liqo/api/labels.hpp"
#include "session/session.hpp"

namespace liqoctl {
namespace {

namespace kinds = liqo::api::kinds;

// $1 is the name of the program. The hidden command prints one candidate per line.
constexpr std::string_view bash_script = R"SH(# bash completion: source <($1 completion bash)
_$1_complete() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$($1 __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _$1_complete $1
)SH";
constexpr std::string_view zsh_script = R"SH(#compdef $1
# zsh completion: $1 completion zsh > "${fpath[1]}/_$1"
_$1() {
  local -a candidates
  candidates=("${(@f)$($1 __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a candidates
}
compdef _$1 $1
)SH";
constexpr std::string_view fish_script = R"SH(# fish completion: $1 completion fish | source
complete -c $1 -f -a '($1 __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
)SH";

std::string filled(std::string_view script, const std::string& program) {
  std::string out;
  for (std::size_t i = 0; i < script.size(); ++i) {
    if (script.substr(i, 2) == "$1") {
      out += program;
      ++i;
    } else {
      out += script[i];
    }
  }
  return out;
}

/// Names of objects in the cluster; none if it does not respond, because a completion must not fail.
asio::awaitable<std::vector<std::string>> names(Session& session, Candidates candidates) {
  std::vector<std::string> out;
  auto cluster = co_await session.local();
  if (!cluster) co_return out;
  const kube::Resource* resource = nullptr;
  std::string selector;
  bool own_namespace = false;
  switch (candidates) {
    case Candidates::none:
      co_return out;
    case Candidates::peers:
      resource = &kube::resources::namespaces;
      selector = std::string(liqo::api::labels::tenant_namespace);
      break;
    case Candidates::tenants:
      resource = &kinds::tenants;
      break;
    case Candidates::slices:
      resource = &kinds::resource_slices;
      break;
    case Candidates::virtual_nodes:
      resource = &kinds::virtual_nodes;
      break;
    case Candidates::identities:
      resource = &kinds::identities;
      break;
    case Candidates::namespaces:
      resource = &kube::resources::namespaces;
      break;
    case Candidates::offloaded_namespaces:
      resource = &kinds::namespace_offloadings;
      own_namespace = true;
      break;
  }
  auto found = co_await (*cluster)->list(*resource, "", selector);
  if (!found) co_return out;
  for (const Object& object : *found)
    out.emplace_back(candidates == Candidates::peers ? object.label(liqo::api::labels::remote_cluster_id)
                     : own_namespace                 ? object.ns()
                                                     : object.name());
  co_return out;
}

asio::awaitable<Result<void>> complete(Session& session, const CommandLine& line, std::vector<std::string> words) {
  const auto found = line.complete(words);
  std::string out;
  for (const std::string& word : found.words) out += word + "\n";
  for (const std::string& name : co_await names(session, found.candidates)) out += found.kept + name + "\n";
  session.output().print(out);
  co_return Result<void>();
}

asio::awaitable<Result<void>> print_script(Session& session, const std::string& shell, const std::string& program) {
  const std::string_view script = shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
  session.output().print(filled(script, program));
  co_return Result<void>();
}

}  // namespace

void add_completion(CommandLine& line) {
  auto shell = std::make_shared<std::string>();
  const std::string program = line.root().name().starts_with("kubectl") ? "kubectl-liqo" : line.root().name();
  const cli::Command app =
      line.command(line.root(), {"completion", "Print the script that completes commands in a shell"},
                   {.namespaces = Namespaces::none,
                    .examples = "  source <(liqoctl completion bash)\n"
                                "  liqoctl completion zsh > \"${fpath[1]}/_liqoctl\"\n"
                                "  liqoctl completion fish | source"},
                   [shell, program](Session& session) { return print_script(session, *shell, program); });
  app.option("shell", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});

  const cli::Command hidden = line.root().add("__complete", "");
  // Everything that follows is what the user is typing, flags included.
  hidden.take_the_rest();
  line.set_command(hidden, [&line, hidden](Session& session) { return complete(session, line, hidden.remaining()); });
}

}  // namespace liqoctl
