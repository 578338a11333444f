// The functions by which each command adds itself to the tree. Each is in the file of its name.
#pragma once

namespace liqoctl {

class CommandLine;

void add_authenticate(CommandLine& line);
void add_check(CommandLine& line);
void add_completion(CommandLine& line);
void add_control(CommandLine& line);
void add_exclude(CommandLine& line);
void add_force(CommandLine& line);
void add_get(CommandLine& line);
void add_home_names(CommandLine& line);
void add_identity(CommandLine& line);
void add_info(CommandLine& line);
void add_install(CommandLine& line);
void add_move(CommandLine& line);
void add_namespace(CommandLine& line);
void add_nonce(CommandLine& line);
void add_peer(CommandLine& line);
void add_peering_user(CommandLine& line);
void add_prune(CommandLine& line);
void add_refusals(CommandLine& line);
void add_resource_slice(CommandLine& line);
void add_tenant(CommandLine& line);
void add_tenant_policy(CommandLine& line);
void add_uninstall(CommandLine& line);
void add_values(CommandLine& line);
void add_version(CommandLine& line);
void add_virtual_node(CommandLine& line);
void add_volume(CommandLine& line);

/// Calls all of the above.
void add_commands(CommandLine& line);

}  // namespace liqoctl
