#include "command_line/command_line.hpp"

#include "core/common/peer_names.hpp"
#include "kube/base/duration.hpp"
#include "kube/base/text.hpp"
#include "text/duration.hpp"
#include "text/suggest.hpp"

namespace liqoctl {
namespace {

const std::map<std::string, std::string> verb_help{
    {"activate", "Put a tenant back to work after cordon or drain"},
    {"cordon", "Stop what is new: slices of a tenant, or pods of a slice"},
    {"create", "Make objects of a peering"},
    {"delete", "Delete objects of a peering"},
    {"describe", "Show one object in full, with what happened to it"},
    {"drain", "Take back what a tenant, or one of its slices, was granted"},
    {"enable", "Switch on what a provider offers beyond the default"},
    {"exclude", "Keep what cannot run there off virtual nodes"},
    {"force", "Forget what cannot be reached"},
    {"generate", "Print objects that are to be carried to the other cluster"},
    {"get", "List objects of peerings"},
    {"move", "Move data to another cluster"},
    {"offload", "Let the pods of namespaces run in other clusters"},
    {"prune", "Delete what is left over and nobody uses"},
    {"set", "Decide what a consumer may do here"},
    {"uncordon", "Undo cordon and drain"},
    {"unoffload", "Bring the pods of namespaces home"},
};

const cli::Command::Words formats{{"json", int(Format::json)}, {"yaml", int(Format::yaml)}};
const cli::Command::Words table_formats{
    {"json", int(Format::json)}, {"name", int(Format::name)}, {"wide", int(Format::wide)}, {"yaml", int(Format::yaml)}};

cli::Option add_output(cli::Command app, Format& into, const cli::Command::Words& known, std::string_view what) {
  return app.choice(
                "-o,--output", known, [&into](int form) { into = Format(form); }, what)
      .type_name(kube::join(known | std::views::keys, "|"));
}

cli::Option add_timeout(cli::Command app, kube::Duration& into, kube::Duration usual) {
  const auto read = [&into](const std::string& text) -> kube::Result<void> {
    KUBE_TRY(parsed, kube::parse_duration(text));
    into = parsed;
    return {};
  };
  return app.option("--timeout", read, "Overall timeout (default " + text::age(usual) + ")").type_name("TIME");
}

/// Adds the flags that name a cluster. With `group` "" they are hidden.
void add_connection(cli::Command app, ConnectionFlags& flags, const std::string& prefix, std::string_view group) {
  struct Text {
    const char* name;
    std::string& into;
    const char* what;
    const char* type;  ///< nullptr = never shown
  };
  const std::string server = prefix.empty() ? "-s,--server" : "--" + prefix + "server";
  for (const Text& text : {Text{"kubeconfig", flags.kubeconfig, "File that says how to reach the cluster", "FILE"},
                           Text{"context", flags.context, "Context of the kubeconfig", "NAME"},
                           Text{"cluster", flags.cluster, "Cluster of the kubeconfig", "NAME"},
                           Text{"user", flags.user, "User of the kubeconfig", "NAME"},
                           Text{"server", flags.server, "URL of the API server", nullptr},
                           Text{"token", flags.token, "Bearer token", nullptr},
                           Text{"certificate-authority", flags.certificate_authority, "File with the CA", nullptr},
                           Text{"tls-server-name", flags.tls_server_name, "Name in the certificate", nullptr}}) {
    const cli::Option option =
        app.option(&text.into == &flags.server ? server : "--" + prefix + text.name, text.into, text.what);
    option.group(text.type ? group : "");
    if (text.type) option.type_name(text.type);
  }
  app.flag("--" + prefix + "insecure-skip-tls-verify", flags.insecure_skip_tls_verify, "Trust any server").group("");
}

}  // namespace

cli::Option add_remote_cluster_id(cli::Command app, std::string& into, std::string_view what) {
  return check_cluster_id(app.option("--remote-cluster-id", into, what).required());
}

cli::Option check_cluster_id(cli::Option option) {
  return option.type_name("ID").check([](const std::string& given) -> kube::Result<void> {
    if (liqo::core::is_cluster_id(given)) return {};
    return kube::fail(kube::Errc::invalid_input,
                      "'" + given + "' is no cluster ID: lower-case letters, digits and dashes, at most 51 characters");
  });
}

CommandLine::CommandLine(const std::string& program, Terminal& terminal)
    : terminal_(terminal),
      program_(program,
               "Shares resources between Kubernetes clusters: asks providers for capacity, lends capacity to "
               "consumers, and\n"
               "decides which namespaces may use it.",
               "liqoctl " LIQOCTL_VERSION) {
  root().footer(
      "Exit codes: 0 done, 1 failed (one line on standard error says what, where and what to do), 2 the command line "
      "is\n"
      "wrong and nothing was tried, 130 interrupted.\n"
      "The cluster is that of --kubeconfig, of $KUBECONFIG, or of ~/.kube/config, in this order.");
  root().require_commands(1, 1);
  add_common(root(), true);
}

void CommandLine::add_common(cli::Command app, bool shown) {
  add_connection(app, flags_.local, "", shown ? "Cluster" : "");
  app.flag("-v,--verbose", flags_.verbose, "Print more about each step").group(shown ? "Options" : "");
  app.flag("--skip-confirm,--yes", flags_.skip_confirm, "Do not ask before what cannot be undone")
      .group(shown ? "Options" : "");
}

cli::Command CommandLine::verb(const std::string& name) {
  if (const auto known = verbs_.find(name); known != verbs_.end()) return known->second;
  const auto help = verb_help.find(name);
  const cli::Command made = root().add(name, help == verb_help.end() ? "" : help->second);
  made.require_commands(1, 1);
  add_common(made, false);
  verbs_.emplace(name, made);
  return made;
}

void CommandLine::add_provider(cli::Command app, Clusters clusters) {
  const std::string_view group = "Cluster of the provider";
  add_connection(app, flags_.remote, "remote-", group);
  app.option("--remote-namespace,--remote-liqo-namespace", flags_.remote_liqo_namespace,
             "Namespace of Liqo in the provider's cluster (default liqo)")
      .group(group)
      .type_name("NAME");
  app.option("--remote-cluster-id", flags_.remote_cluster_id, "Refuse a provider that is not this cluster")
      .group(group)
      .type_name("ID");
  app.flag("--remote-allow-exec", flags_.remote_allow_exec,
           "Let the provider's kubeconfig run its program, or send its token file")
      .group(group);
  check(app, [this, clusters]() -> kube::Result<void> {
    if (clusters == Clusters::two && !flags_.remote.is_given())
      return kube::fail(kube::Errc::invalid_input,
                        "the provider's cluster is not named: give --remote-kubeconfig or --remote-context");
    if (flags_.remote.is_server_alone() && flags_.remote.token.empty())
      return kube::fail(kube::Errc::invalid_input,
                        "--remote-server does not say as whom to ask the provider: give --remote-kubeconfig, "
                        "--remote-context, --remote-user or --remote-token");
    return {};
  });
}

void CommandLine::add_namespaces(cli::Command app, Namespaces meant) {
  constexpr std::string_view of_liqo = "Namespace of Liqo (default liqo)";
  switch (meant) {
    case Namespaces::liqo:
      app.option("-n,--namespace,--liqo-namespace", flags_.liqo_namespace, of_liqo).group("Cluster").type_name("NAME");
      break;
    case Namespaces::object:
      app.option("-n,--namespace", flags_.ns, "Namespace of the objects").group("Cluster").type_name("NAME");
      app.option("--liqo-namespace", flags_.liqo_namespace, of_liqo).group("Cluster").type_name("NAME");
      break;
    case Namespaces::none:
      app.option("--liqo-namespace", flags_.liqo_namespace, of_liqo).group("");
      break;
  }
}

cli::Command CommandLine::command(cli::Command parent, CommandText text, const CommandTraits& traits, Run run) {
  const cli::Command app = parent.add(text.name, text.what);
  for (const std::string& alias : traits.aliases) app.alias(alias);
  if (!traits.examples.empty()) app.footer("Examples:\n" + traits.examples);
  add_common(app, true);
  if (traits.clusters != Clusters::one) add_provider(app, traits.clusters);
  add_namespaces(app, traits.namespaces);
  if (traits.writes) {
    app.flag("--dry-run", flags_.dry_run, "Write nothing; print what would be written, and where");
  }
  if (traits.creates) {
    app.list("--global-labels", flags_.global_labels, "Labels for everything that is created").type_name("K=V,...");
    app.list("--global-annotations", flags_.global_annotations, "Annotations for everything that is created")
        .type_name("K=V,...");
  }
  if (traits.prints == Prints::objects) add_output(app, flags_.output, formats, "Print the object");
  if (traits.prints == Prints::tables) add_output(app, flags_.output, table_formats, "How to print");
  if (traits.timeout.count() > 0) add_timeout(app, flags_.timeout, traits.timeout);
  arguments_.emplace(app, traits.argument);
  // Each command has its own default, so it is set once the command is known.
  app.at_start([this, timeout = traits.timeout] {
    if (timeout.count() > 0) flags_.timeout = timeout;
  });
  set_command(app, std::move(run));
  return app;
}

void CommandLine::set_command(cli::Command app, Run run) {
  app.at_end([this, app, run = std::move(run)]() -> kube::Result<void> {
    for (const Check& check : checks_[app]) KUBE_TRYV(check());
    chosen_ = run;
    return {};
  });
}

void CommandLine::check(cli::Command app, Check check) { checks_[app].push_back(std::move(check)); }

int CommandLine::report_mistake(const std::string& mistake) const {
  const cli::Command app = root().innermost();
  const std::string path = app.path();
  const std::vector<std::string> below = app.names_below();
  const std::vector<std::string> left = app.remaining();
  std::string text = mistake;
  if (!below.empty() && app.needs_command() && !left.empty() && !left.front().starts_with('-')) {
    text = "there is no command '" + left.front() + "' in '" + path + "'";
    if (const std::string near = text::nearest(left.front(), below); !near.empty())
      text += "; did you mean '" + near + "'?";
    else if (below.size() == 1)
      text += "; did you mean '" + path + " " + below.front() + " " + left.front() + "'?";
  } else if (!below.empty() && app.needs_command() && left.empty()) {
    text = "'" + path + "' needs one of: " + kube::join(below, ", ");
  } else if (!left.empty()) {
    text = left.front().starts_with('-') ? "there is no flag '" + left.front() + "'"
                                         : "'" + left.front() + "' is one argument too many";
    if (left.front().starts_with('-')) {
      const std::string flag = left.front().substr(0, left.front().find('='));
      if (const std::string near = text::nearest(flag, app.flags()); !near.empty())
        text += "; did you mean '" + near + "'?";
    }
  }
  terminal_.print_error(root().name() + ": " + text + (text.ends_with('?') ? "" : ".") + " See '" + path +
                        " --help'.\n");
  return exit_code::usage;
}

CommandLine::Parsed CommandLine::parse(int argc, char** argv) {
  if (argc == 1) {
    terminal_.print(program_.help());
    return {.code = exit_code::ok};
  }
  const cli::Program::Read read = program_.read(argc, argv);
  if (read.line == cli::Program::Line::wrong) return {.code = report_mistake(read.mistake)};
  return {.run = read.line == cli::Program::Line::understood ? std::move(chosen_) : Run(), .code = exit_code::ok};
}

CommandLine::Completion CommandLine::complete(const std::vector<std::string>& typed) const {
  Completion out;
  if (typed.empty()) return out;
  cli::Command app = root();
  for (std::size_t i = 0; i + 1 < typed.size(); ++i)
    for (const cli::Command next : app.below())
      if (next.is_called(typed[i])) {
        app = next;
        break;
      }
  std::string beginning = typed.back();
  std::string flag = typed.size() > 1 ? typed[typed.size() - 2] : "";
  // bash splits "--wait=no" into three words, other shells keep one.
  if (flag == "=" && typed.size() > 2) flag = typed[typed.size() - 3];
  if (const std::size_t equal = beginning.find('='); beginning.starts_with("--") && equal != std::string::npos) {
    flag = beginning.substr(0, equal);
    out.kept = beginning.substr(0, equal + 1);
    beginning.erase(0, equal + 1);
  }
  if (app.takes_value(flag)) {
    if (flag == "--remote-cluster-id" || flag == "--consumer-cluster-id") out.candidates = Candidates::peers;
    for (const std::string& value : app.values_of(flag))
      if (value.starts_with(beginning)) out.words.push_back(out.kept + value);
    return out;
  }
  for (const std::string& word : beginning.starts_with('-') ? app.flags() : app.names_below())
    if (word.starts_with(beginning)) out.words.push_back(word);
  if (const auto argument = arguments_.find(app); argument != arguments_.end() && !beginning.starts_with('-'))
    out.candidates = argument->second;
  return out;
}

}  // namespace liqoctl
