#include "options.hpp"

#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "core/common/names.hpp"
#include "options/groups.hpp"

namespace liqod {
namespace {

constexpr std::string_view what_it_does =
    R"(liqod lends and borrows capacity between Kubernetes clusters: one process per cluster, consumer and provider at
once. For each VirtualNode it keeps a Node whose pods run in the provider's cluster; for each ShadowPod it runs a
Pod of a consumer. It serves the kubelet API of its nodes, so that kubectl logs and exec reach those pods.)";

ParsedOptions mistake(const std::string& text) {
  std::cerr << "liqod: " << text << " (liqod --help lists the options)\n";
  return {.exit_code = 2};
}

/// The pod that this process runs in, or the host and the process.
std::string own_name() {
  if (const char* pod = std::getenv("POD_NAME")) return pod;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::string(host) + "-" + std::to_string(getpid());
}

}  // namespace

cli::Option add_preset(cli::Command app, const char* name, std::string& into, const char* what) {
  return app.option(name, into, what).preset(into);
}

kube::Result<void> check_label(const std::string& text) {
  if (liqo::core::is_dns_label(text)) return {};
  return kube::fail(kube::Errc::invalid_input, "is not a DNS label (a-z, 0-9 and '-', at most 63): " + text);
}

ParsedOptions parse_options(int argc, char** argv) {
  Options options;
  Texts texts;
  const cli::Program program("liqod", what_it_does, "liqod " LIQOD_VERSION,
                             "Display program version information and exit");
  program.options_file("--config", "File with these options, one 'name = value' a line; the command line wins");

  const cli::Command app = program.root();
  add_cluster_options(app, options, texts);
  add_node_options(app, options, texts);
  add_provider_options(app, options, texts);
  add_identity_options(app, options, texts);
  if (const auto added = add_sharing_options(app, options); !added) return mistake(added.error().text());
  add_admission_options(app, options, texts);
  add_process_options(app, options, texts);

  const cli::Program::Read read = program.read(argc, argv);
  if (read.line == cli::Program::Line::answered) return {.exit_code = 0};
  if (read.line == cli::Program::Line::wrong) return mistake(read.mistake);
  if (const auto taken = read_texts(std::move(texts), options); !taken) return mistake(taken.error().text());
  if (options.identity.empty()) options.identity = own_name();
  return {.options = std::move(options)};
}

}  // namespace liqod
