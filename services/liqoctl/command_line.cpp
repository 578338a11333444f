#include "command_line.hpp"

#include <iostream>

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
    {"drain", "Take back what a tenant was granted"},
    {"generate", "Print objects that are to be carried to the other cluster"},
    {"get", "List objects of peerings"},
    {"offload", "Let the pods of namespaces run in other clusters"},
    {"uncordon", "Undo cordon, and of a tenant also drain"},
    {"unoffload", "Bring the pods of namespaces home"},
};

const std::map<std::string, Format> formats{{"json", Format::json}, {"yaml", Format::yaml}};
const std::map<std::string, Format> table_formats{
    {"json", Format::json}, {"yaml", Format::yaml}, {"wide", Format::wide}, {"name", Format::name}};

std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? path_of(*parent) + " " + app.get_name() : app.get_name();
}

/// The innermost command that was named.
CLI::App& innermost(CLI::App& app) {
  const auto named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.back());
}

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!sub->get_group().empty()) out.push_back(sub->get_name());
  return out;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

CLI::Option* add_output(CLI::App& app, Format& into, const std::map<std::string, Format>& known,
                        const std::string& what) {
  const auto read = [&into, &known](const std::string& text) {
    const auto found = known.find(text);
    if (found == known.end()) throw CLI::ValidationError("--output", "there is no form '" + text + "'");
    into = found->second;
  };
  return app.add_option_function<std::string>("-o,--output", read, what)->type_name("FORM");
}

}  // namespace

CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<std::string>& into, const std::string& what) {
  return app.add_option(name, into, what)->allow_extra_args(false)->type_name("TEXT");
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, kube::Duration& into, const std::string& what) {
  const auto read = [&into, name](const std::string& text) {
    const auto parsed = text::parse_duration(text);
    if (!parsed) throw CLI::ValidationError(name, parsed.error().text());
    into = *parsed;
  };
  return app.add_option_function<std::string>(name, read, what + " (default " + text::age(into) + ")")
      ->type_name("TIME");
}

CLI::Option* add_remote_cluster_id(CLI::App& app, std::string& into, const std::string& what) {
  return app.add_option("--remote-cluster-id", into, what)->required()->type_name("ID");
}

CommandLine::CommandLine(std::string program) : program_(std::move(program)), root_("", program_) {
  root_.description(
      "Shares resources between Kubernetes clusters: asks providers for capacity, lends capacity to consumers, and\n"
      "decides which namespaces may use it.");
  root_.footer(
      "Exit codes: 0 done, 1 failed (one line on standard error says what, where and what to do), 2 the command line "
      "is\n"
      "wrong and nothing was tried, 130 interrupted.\n"
      "The cluster is that of --kubeconfig, of $KUBECONFIG, or of ~/.kube/config, in this order.");
  root_.require_subcommand(1);
  root_.set_version_flag("--version", "liqoctl " LIQOCTL_VERSION, "Print the version of this program");
  add_common(root_, true);
}

void CommandLine::add_connection(CLI::App& app, ConnectionFlags& flags, const std::string& prefix,
                                 const std::string& group, bool shown) {
  const std::string visible = shown ? group : "";
  app.add_option("--" + prefix + "kubeconfig", flags.kubeconfig, "File that says how to reach the cluster")
      ->group(visible)
      ->type_name("FILE");
  app.add_option("--" + prefix + "context", flags.context, "Context of the kubeconfig")
      ->group(visible)
      ->type_name("NAME");
  app.add_option("--" + prefix + "cluster", flags.cluster, "Cluster of the kubeconfig")
      ->group(visible)
      ->type_name("NAME");
  app.add_option("--" + prefix + "user", flags.user, "User of the kubeconfig")->group(visible)->type_name("NAME");
  app.add_option((prefix.empty() ? "-s,--" : "--" + prefix) + "server", flags.server, "URL of the API server")
      ->group("");
  app.add_option("--" + prefix + "token", flags.token, "Bearer token")->group("");
  app.add_option("--" + prefix + "certificate-authority", flags.certificate_authority, "File with the CA")->group("");
  app.add_option("--" + prefix + "tls-server-name", flags.tls_server_name, "Name in the certificate")->group("");
  app.add_flag("--" + prefix + "insecure-skip-tls-verify", flags.insecure_skip_tls_verify, "Trust any server")
      ->group("");
}

void CommandLine::add_common(CLI::App& app, bool shown) {
  add_connection(app, flags_.local, "", "Cluster", shown);
  app.add_flag("-v,--verbose", flags_.verbose, "Tell more of what is done")->group(shown ? "Options" : "");
  app.add_flag("--skip-confirm,--yes", flags_.skip_confirm, "Do not ask before what cannot be undone")
      ->group(shown ? "Options" : "");
}

CLI::App& CommandLine::verb(const std::string& name) {
  CLI::App*& known = verbs_[name];
  if (!known) {
    const auto help = verb_help.find(name);
    known = root_.add_subcommand(name, help == verb_help.end() ? "" : help->second);
    known->require_subcommand(1);
    add_common(*known, false);
  }
  return *known;
}

CLI::App& CommandLine::command(CLI::App& parent, const std::string& name, const std::string& what, CommandTraits traits,
                               Run run) {
  CLI::App& app = *parent.add_subcommand(name, what);
  for (const std::string& alias : traits.aliases) app.alias(alias);
  if (!traits.examples.empty()) app.footer("Examples:\n" + traits.examples);
  add_common(app, true);
  if (traits.two_clusters) {
    add_connection(app, flags_.remote, "remote-", "Cluster of the provider", true);
    app.add_option("--remote-namespace,--remote-liqo-namespace", flags_.remote_liqo_namespace,
                   "Namespace of Liqo in the provider's cluster (default liqo)")
        ->group("Cluster of the provider")
        ->type_name("NAME");
  }
  if (traits.namespaces == Namespaces::liqo)
    app.add_option("-n,--namespace,--liqo-namespace", flags_.liqo_namespace, "Namespace of Liqo (default liqo)")
        ->group("Cluster")
        ->type_name("NAME");
  if (traits.namespaces == Namespaces::object) {
    app.add_option("-n,--namespace", flags_.ns, "Namespace of the objects")->group("Cluster")->type_name("NAME");
    app.add_option("--liqo-namespace", flags_.liqo_namespace, "Namespace of Liqo (default liqo)")
        ->group("Cluster")
        ->type_name("NAME");
  }
  if (traits.namespaces == Namespaces::none)
    app.add_option("--liqo-namespace", flags_.liqo_namespace, "Namespace of Liqo (default liqo)")->group("");
  if (traits.writes) {
    app.add_flag("--dry-run", flags_.dry_run, "Write nothing; print what would be written, and where");
    add_list(app, "--global-labels", flags_.global_labels, "Labels (k=v,...) for everything that is created");
    add_list(app, "--global-annotations", flags_.global_annotations, "Annotations (k=v,...) likewise");
  }
  if (traits.prints) add_output(app, flags_.output, formats, "json or yaml: print the object");
  if (traits.prints_tables) add_output(app, flags_.output, table_formats, "wide, json, yaml or name");
  if (traits.timeout.count() > 0)
    // The default is the command's: it is set once the command is known to be the one.
    app.add_option_function<std::string>(
           "--timeout",
           [this](const std::string& text) {
             const auto parsed = text::parse_duration(text);
             if (!parsed) throw CLI::ValidationError("--timeout", parsed.error().text());
             flags_.timeout = *parsed;
           },
           "Time for everything together (default " + text::age(traits.timeout) + ")")
        ->type_name("TIME");
  arguments_[&app] = traits.argument;
  app.preparse_callback([this, timeout = traits.timeout](std::size_t) {
    if (timeout.count() > 0) flags_.timeout = timeout;
  });
  set_command(app, std::move(run));
  return app;
}

void CommandLine::set_command(CLI::App& app, Run run) {
  app.callback([this, run = std::move(run), &app] {
    if (app.get_subcommands().empty()) chosen_ = run;
  });
}

int CommandLine::tell(const CLI::ParseError& mistake) {
  CLI::App& app = innermost(root_);
  const std::string path = path_of(app);
  const std::vector<std::string> below = names_below(app);
  const std::vector<std::string> left = app.remaining();
  std::string text = mistake.what();
  if (!below.empty() && app.get_require_subcommand_min() > 0 && !left.empty() && !left.front().starts_with('-')) {
    text = "there is no command '" + left.front() + "' in '" + path + "'";
    if (const std::string near = text::nearest(left.front(), below); !near.empty())
      text += "; did you mean '" + near + "'?";
  } else if (!below.empty() && app.get_require_subcommand_min() > 0 && left.empty()) {
    text = "'" + path + "' needs one of: ";
    for (std::size_t i = 0; i < below.size(); ++i) text += (i > 0 ? ", " : "") + below[i];
  } else if (!left.empty()) {
    text = left.front().starts_with('-') ? "there is no flag '" + left.front() + "'"
                                         : "'" + left.front() + "' is one argument too many";
    if (left.front().starts_with('-')) {
      const std::string flag = left.front().substr(0, left.front().find('='));
      if (const std::string near = text::nearest(flag, flags_of(app)); !near.empty())
        text += "; did you mean '" + near + "'?";
    }
  }
  std::cerr << program_ << ": " << text << " (" << path << " --help tells what there is)\n";
  return exit_code::usage;
}

CommandLine::Parsed CommandLine::parse(int argc, char** argv) {
  if (argc == 1) {
    std::cout << root_.help();
    return {.code = exit_code::ok};
  }
  try {
    root_.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    root_.exit(asked);
    return {.code = exit_code::ok};
  } catch (const CLI::ParseError& mistake) {
    return {.code = tell(mistake)};
  }
  return {.run = std::move(chosen_), .code = exit_code::ok};
}

CommandLine::Completion CommandLine::complete(const std::vector<std::string>& typed) {
  Completion out;
  if (typed.empty()) return out;
  CLI::App* app = &root_;
  for (std::size_t i = 0; i + 1 < typed.size(); ++i)
    for (CLI::App* next : app->get_subcommands([](const CLI::App*) { return true; }))
      if (next->check_name(typed[i])) {
        app = next;
        break;
      }
  const std::string& beginning = typed.back();
  const std::string before = typed.size() > 1 ? typed[typed.size() - 2] : "";
  if (before == "--remote-cluster-id" || before == "--consumer-cluster-id") {
    out.candidates = Candidates::peers;
    return out;
  }
  for (const std::string& word : beginning.starts_with('-') ? flags_of(*app) : names_below(*app))
    if (word.starts_with(beginning)) out.words.push_back(word);
  if (const auto argument = arguments_.find(app); argument != arguments_.end() && !beginning.starts_with('-'))
    out.candidates = argument->second;
  return out;
}

}  // namespace liqoctl
