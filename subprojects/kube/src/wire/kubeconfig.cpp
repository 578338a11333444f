#include "kube/wire/kubeconfig.hpp"

#include <algorithm>
#include <array>

#include "kube/base/base64.hpp"
#include "kube/base/printable.hpp"
#include "yaml_tree.hpp"

namespace kube::wire {

namespace {

constexpr std::size_t max_size = std::size_t{1} << 20;
constexpr std::size_t max_list = 4096;
constexpr std::size_t max_extension = 10'000;  // nodes
constexpr const char* exec_extension = "client.authentication.k8s.io/exec";

std::string quoted(std::string_view text) { return "'" + printable(cut_text(text, 256)) + "'"; }

/// One mapping of the document with the words that messages call it by. Reading collects the first failure, so that the
/// callers stay a list of fields.
class Section {
 public:
  Section(const YAML::Node& node, std::string title, std::optional<Failure>& failure)
      : node_(node), title_(std::move(title)), failure_(failure) {}

  /// Present, and neither null nor empty.
  bool has(const char* field) const {
    const YAML::Node value = child(field);
    if (!value || value.IsNull()) return false;
    return value.IsScalar() ? !value.Scalar().empty() : value.size() > 0;
  }
  std::string text(const char* field) const {
    const YAML::Node value = child(field);
    if (!value || value.IsNull()) return {};
    if (value.IsScalar()) return value.Scalar();
    refuse(Errc::invalid_input, field, "is not a string");
    return {};
  }
  bool flag(const char* field) const {
    const std::string value = text(field);
    if (value.empty() || value == "false") return false;
    if (value == "true") return true;
    refuse(Errc::invalid_input, field, "is neither true nor false");
    return false;
  }
  std::string data(const char* field) const {
    const std::string value = text(field);
    auto bytes = decode_base64(value);
    if (bytes) return std::move(*bytes);
    refuse(Errc::invalid_input, field, "is not base64");
    return {};
  }
  void refuse(Errc code, const char* field, std::string_view why) const {
    if (!failure_) failure_ = Failure(code, title_ + ": field '" + field + "' " + std::string(why));
  }
  YAML::Node child(const char* field) const {
    return node_.IsMap() ? node_[field] : YAML::Node(YAML::NodeType::Undefined);
  }

 private:
  const YAML::Node node_;  // const: the other operator[] would add what it looks for
  std::string title_;
  std::optional<Failure>& failure_;
};

/// The entry of `list` with that name, e.g. ("clusters", "cluster", "rome").
Result<YAML::Node> named(const YAML::Node& root, const char* list, const char* field, const std::string& name) {
  const YAML::Node entries = root[list];
  YAML::Node found(YAML::NodeType::Undefined);
  bool seen = false;
  if (entries && !entries.IsNull() && !entries.IsSequence())
    return fail(Errc::invalid_input, "'" + std::string(list) + "' is not a list");
  if (entries && entries.IsSequence()) {
    if (entries.size() > max_list) return fail(Errc::too_large, "'" + std::string(list) + "' has too many entries");
    for (const YAML::Node& entry : entries) {
      if (!entry.IsMap()) continue;
      const YAML::Node key = entry["name"];
      if (!key || !key.IsScalar() || key.Scalar() != name) continue;
      if (seen) return fail(Errc::invalid_input, std::string(field) + " " + quoted(name) + " is there twice");
      seen = true;
      const YAML::Node value = entry[field];
      if (!value || !value.IsMap())
        return fail(Errc::invalid_input,
                    std::string(field) + " " + quoted(name) + ": field '" + field + "' is not a mapping");
      found.reset(value);
    }
  }
  if (!seen) {
    // A file without the context may leave it to another file.
    const Errc code = std::string_view(list) == "contexts" ? Errc::missing : Errc::invalid_input;
    return fail(code, "there is no " + std::string(field) + " " + quoted(name) + " in '" + list + "'");
  }
  return found;
}

struct Reader {
  const KubeconfigOptions& options;
  ClusterConfig config;
  std::optional<Failure> failure;
  json::value exec_config = nullptr;

  bool from_secret() const { return options.origin == KubeconfigOrigin::secret; }

  std::string file(const Section& section, const char* field) const {
    if (!section.has(field)) return {};
    if (from_secret()) {
      section.refuse(Errc::unsupported, field,
                     "names a file, which a kubeconfig from a Secret must not do: put the data inline");
      return {};
    }
    return absolute(section.text(field));
  }
  std::string absolute(std::string path) const {
    if (path.starts_with('/') || options.directory.empty()) return path;
    return options.directory + "/" + path;
  }

  void read_cluster(const Section& cluster) {
    if (!cluster.has("server")) cluster.refuse(Errc::invalid_input, "server", "is missing");
    auto url = parse_server_url(cluster.text("server"));
    if (url) {
      config.server = std::move(*url);
    } else if (!failure) {
      failure = std::move(url.error()).in("cluster " + quoted(config.cluster));
    }
    config.tls_server_name = cluster.text("tls-server-name");
    config.insecure_skip_tls_verify = cluster.flag("insecure-skip-tls-verify");
    config.ca_file = file(cluster, "certificate-authority");
    config.ca_pem = cluster.data("certificate-authority-data");
    if (config.insecure_skip_tls_verify && (!config.ca_pem.empty() || !config.ca_file.empty()))
      cluster.refuse(Errc::invalid_input, "insecure-skip-tls-verify",
                     "contradicts the certificate authority beside it");
    if (cluster.has("proxy-url"))
      cluster.refuse(Errc::unsupported, "proxy-url",
                     "is not supported: take it out, and name in 'server' an address that is reached directly");
    if (cluster.has("extensions")) read_extension(cluster);
  }

  /// What exec plugins learn about the cluster is in the cluster's entry, not in theirs.
  void read_extension(const Section& cluster) {
    const YAML::Node entries = cluster.child("extensions");
    if (!entries.IsSequence()) return;
    for (const YAML::Node& entry : entries) {
      const Section extension(entry, "extension of cluster " + quoted(config.cluster), failure);
      if (extension.text("name") != exec_extension || !extension.has("extension")) continue;
      std::size_t left = max_extension;
      auto tree = yaml_tree(extension.child("extension"), left);
      if (tree) {
        exec_config = std::move(*tree);
      } else {
        extension.refuse(Errc::too_large, "extension", "is too deep or too large");
      }
    }
  }

  void read_user(const Section& user) {
    config.client_certificate_file = file(user, "client-certificate");
    config.client_certificate_pem = user.data("client-certificate-data");
    config.client_key_file = file(user, "client-key");
    config.client_key_pem = user.data("client-key-data");
    config.token = user.text("token");
    config.token_file = file(user, "tokenFile");
    for (const char* field : {"as", "as-uid", "as-groups", "as-user-extra"})
      if (user.has(field)) user.refuse(Errc::unsupported, field, "asks for impersonation, which is not supported");
    for (const char* field : {"username", "password"})
      if (user.has(field))
        user.refuse(Errc::unsupported, field, "asks for basic authentication, which API servers no longer know");
    if (user.has("auth-provider"))
      user.refuse(Errc::unsupported, "auth-provider", "is not supported: API clients no longer have such providers");
    if (user.has("exec")) read_exec(user);
    const bool certificate = !config.client_certificate_pem.empty() || !config.client_certificate_file.empty();
    const bool key = !config.client_key_pem.empty() || !config.client_key_file.empty();
    if (certificate && !key)
      user.refuse(Errc::invalid_input, "client-key-data", "is missing beside the client certificate");
    if (key && !certificate)
      user.refuse(Errc::invalid_input, "client-certificate-data", "is missing beside the client key");
  }

  void read_exec(const Section& user) {
    if (from_secret()) {
      user.refuse(Errc::unsupported, "exec", "names a program to run, which a kubeconfig from a Secret must not do");
      return;
    }
    const Section section(user.child("exec"), "exec plugin of user " + quoted(config.user), failure);
    ExecPlugin plugin;
    plugin.api_version = section.text("apiVersion");
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1")
      section.refuse(Errc::unsupported, "apiVersion",
                     "is neither client.authentication.k8s.io/v1 nor /v1beta1: make the kubeconfig anew with a newer "
                     "version of the plugin");
    plugin.command = section.text("command");
    if (plugin.command.empty()) section.refuse(Errc::invalid_input, "command", "is missing");
    if (plugin.command.contains('/')) plugin.command = absolute(std::move(plugin.command));
    plugin.interactive = interactive(section);
    plugin.install_hint = section.text("installHint");
    plugin.provide_cluster_info = section.flag("provideClusterInfo");
    plugin.cluster_config = exec_config;
    if (section.has("args")) {
      const YAML::Node args = section.child("args");
      if (!args.IsSequence()) section.refuse(Errc::invalid_input, "args", "is not a list");
      for (const YAML::Node& arg : args) {
        if (arg.IsScalar()) {
          plugin.args.push_back(arg.Scalar());
        } else {
          section.refuse(Errc::invalid_input, "args", "holds something that is not a string");
        }
      }
    }
    if (section.has("env")) {
      const YAML::Node env = section.child("env");
      if (!env.IsSequence()) section.refuse(Errc::invalid_input, "env", "is not a list");
      for (const YAML::Node& entry : env) {
        const Section variable(entry, "variable of the exec plugin of user " + quoted(config.user), failure);
        plugin.env.emplace_back(variable.text("name"), variable.text("value"));
        if (plugin.env.back().first.empty()) variable.refuse(Errc::invalid_input, "name", "is missing");
      }
    }
    if (config.token.empty() && config.token_file.empty()) config.exec = std::move(plugin);
  }

  static ExecPlugin::Interactive interactive(const Section& exec) {
    using enum ExecPlugin::Interactive;
    constexpr std::array<std::pair<std::string_view, ExecPlugin::Interactive>, 4> modes{
        {{"", if_available}, {"IfAvailable", if_available}, {"Never", never}, {"Always", always}}};
    const std::string mode = exec.text("interactiveMode");
    const auto found = std::ranges::find(modes, mode, [](const auto& each) { return each.first; });
    if (found != modes.end()) return found->second;
    exec.refuse(Errc::invalid_input, "interactiveMode", "is none of Never, IfAvailable and Always");
    return never;
  }
};

Result<ClusterConfig> read(const YAML::Node& root, const KubeconfigOptions& options) {
  if (!root.IsMap()) return fail(Errc::parse, "the document is not a mapping");
  Reader reader{.options = options, .config = {}, .failure = {}};
  ClusterConfig& config = reader.config;

  const Section top(root, "kubeconfig", reader.failure);
  config.context = options.context.empty() ? top.text("current-context") : options.context;
  if (reader.failure) return std::unexpected(std::move(*reader.failure));
  if (config.context.empty()) return fail(Errc::missing, "'current-context' is missing");

  KUBE_TRY(context_node, named(root, "contexts", "context", config.context));
  const Section context(context_node, "context " + quoted(config.context), reader.failure);
  config.cluster = options.cluster.empty() ? context.text("cluster") : options.cluster;
  config.user = options.user.empty() ? context.text("user") : options.user;
  config.ns = context.text("namespace");
  if (config.cluster.empty()) context.refuse(Errc::invalid_input, "cluster", "is missing");
  if (reader.failure) return std::unexpected(std::move(*reader.failure));

  KUBE_TRY(cluster_node, named(root, "clusters", "cluster", config.cluster), "context " + quoted(config.context));
  reader.read_cluster(Section(cluster_node, "cluster " + quoted(config.cluster), reader.failure));

  // A context without a user is an anonymous one.
  if (!config.user.empty()) {
    KUBE_TRY(user_node, named(root, "users", "user", config.user), "context " + quoted(config.context));
    reader.read_user(Section(user_node, "user " + quoted(config.user), reader.failure));
  }
  if (reader.failure) return std::unexpected(std::move(*reader.failure));
  return std::move(config);
}

}  // namespace

Result<ClusterConfig> parse_kubeconfig(std::string_view text, const KubeconfigOptions& options) {
  if (text.size() > max_size) return fail(Errc::too_large, "kubeconfig: more than 1 MiB");
  try {
    // Aliases share the node they name, so a document of nested aliases costs no more than its text.
    auto config = read(YAML::Load(std::string(text)), options);
    if (!config) return fail(std::move(config.error()), "kubeconfig");
    return config;
  } catch (const YAML::Exception& error) {
    return fail(yaml_failure(error, text), "kubeconfig");
  }
}

Result<ClusterConfig> in_cluster_config(std::string_view host, std::string_view port, std::string_view directory) {
  if (host.empty() || port.empty())
    return fail(Errc::invalid_input,
                "not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  const bool bracket = host.contains(':');
  KUBE_TRY(url,
           parse_server_url("https://" + (bracket ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
                            std::string(port)),
           "in-cluster configuration");
  ClusterConfig config;
  config.server = std::move(url);
  config.context = config.cluster = config.user = "in-cluster";
  config.ca_file = std::string(directory) + "/ca.crt";
  config.token_file = std::string(directory) + "/token";
  return config;
}

}  // namespace kube::wire
