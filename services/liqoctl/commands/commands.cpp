#include "commands/commands.hpp"

namespace liqoctl {

void add_commands(CommandLine& line) {
  add_peer(line);
  add_authenticate(line);
  add_resource_slice(line);
  add_virtual_node(line);
  add_namespace(line);
  add_move(line);
  add_nonce(line);
  add_tenant(line);
  add_tenant_policy(line);
  add_identity(line);
  add_peering_user(line);
  add_control(line);
  add_exclude(line);
  add_force(line);
  add_home_names(line);
  add_prune(line);
  add_get(line);
  add_values(line);
  add_refusals(line);
  add_info(line);
  add_check(line);
  add_install(line);
  add_uninstall(line);
  add_version(line);
  add_completion(line);
  add_volume(line);
}

}  // namespace liqoctl
