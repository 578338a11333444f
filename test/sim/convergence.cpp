// Whether all simulated clusters show the same in the end, and what is left over.
#include "invariants.hpp"
#include "kube/k8s/condition.hpp"
#include "liqo/api/annotations.hpp"
#include "liqo/api/kinds.hpp"

namespace liqo::sim {

namespace resources = kube::resources;

namespace {

/// The parts of a container's status that must be the same on both sides.
std::string summary(const json::object& pod) {
  std::string text(phase_of(pod));
  text.append(" ip=").append(kube::string_at(pod, {"status", "podIP"}));
  if (const json::object* ready = kube::find_condition(kube::object_at(pod, {"status"}), "Ready"))
    text.append(" ready=").append(kube::string_at(*ready, {"status"}));
  for (const json::value& status : kube::array_at(pod, {"status", "containerStatuses"})) {
    text.append(" ").append(kube::string_at(status, {"containerID"}));
    for (const auto& [state, detail] : kube::object_at(status, {"state"})) text.append("=").append(state);
  }
  return text;
}

std::string image_of(const json::object& pod) {
  const json::array& containers = kube::array_at(pod, {"spec", "containers"});
  return containers.empty() ? "" : std::string(kube::string_at(containers[0], {"image"}));
}

/// The value of a label or an annotation as a kubelet puts it into a file.
std::string_view told_of(const json::object& pod, std::string_view path) {
  constexpr std::string_view begin = "['", end = "']", labels = "metadata.labels";
  const std::size_t at = path.find(begin);
  if (at == std::string_view::npos || !path.ends_with(end)) return "";
  const std::string_view key = path.substr(at + begin.size(), path.size() - end.size() - at - begin.size());
  return kube::string_at(pod, {"metadata", path.starts_with(labels) ? "labels" : "annotations", key});
}

/// The text in the file of that name in which the pod reads about itself.
std::string_view read_by(const json::object& pod, std::string_view file) {
  for (const json::value& volume : kube::array_at(pod, {"spec", "volumes"}))
    if (kube::string_at(volume, {"name"}) == about_volume)
      for (const json::value& item : kube::array_at(volume, {"downwardAPI", "items"}))
        if (kube::string_at(item, {"path"}) == file)
          return told_of(pod, kube::string_at(item, {"fieldRef", "fieldPath"}));
  return "";
}

/// What a pod reads about itself is what it would read at home.
std::string compare_reads(const json::object& local, const json::object& remote) {
  const std::string name(name_of(local));
  for (const auto& [file, path] : fields_read)
    if (read_by(local, file) != read_by(remote, file))
      return name + " reads " + std::string(path) + " as \"" + std::string(read_by(remote, file)) + "\", not \"" +
             std::string(read_by(local, file)) + "\"";
  for (const json::value& container : kube::array_at(remote, {"spec", "containers"}))
    for (const json::value& variable : kube::array_at(container, {"env"}))
      if (kube::string_at(variable, {"name"}) == uid_variable && kube::string_at(variable, {"value"}) != uid_of(local))
        return name + " reads another UID than that of home";
  return "";
}

std::string compare_pod(World& world, const json::object& local) {
  const std::string name(name_of(local));
  const std::string node(kube::string_at(local, {"spec", "nodeName"}));
  if (is_deleting(local)) return "local pod " + name + " is still being deleted";
  if (node.empty()) return "local pod " + name + " is not bound";
  Cluster& provider = world.cluster(provider_of(node));
  const kube::ObjectKey key{twin_namespace(world.home.id), name};
  const Tree remote = provider.server.get(resources::pods, key);
  const bool ours = remote && local_uid_of(*remote) == uid_of(local);
  const bool remote_lives = ours && !is_final(phase_of(*remote));
  if (is_final(phase_of(local)))
    return remote_lives ? "local pod " + name + " is " + std::string(phase_of(local)) + ", its remote pod lives on"
                        : "";
  if (!ours) return "local pod " + name + " (" + std::string(phase_of(local)) + ") has no remote pod in " + node;
  if (is_deleting(*remote)) return "the remote pod of " + name + " is being deleted";
  // For pods that always restart this record comes late, but within a minute.
  if (const Tree shadow = provider.server.get(api::kinds::shadow_pods, key);
      phase_of(*remote) == "Running" && (!shadow || phase_of(*shadow) != "Running"))
    return "the ShadowPod of " + name + " does not say that it runs";
  if (summary(local) != summary(*remote))
    return name + ": local \"" + summary(local) + "\", remote \"" + summary(*remote) + "\"";
  if (image_of(local) != image_of(*remote))
    return name + ": image " + image_of(local) + ", remote " + image_of(*remote);
  const auto edit = [](const json::object& pod) { return kube::string_at(pod, {"metadata", "labels", "edit"}); };
  if (edit(local) != edit(*remote))
    return name + ": label edit=" + std::string(edit(local)) + " is not on the remote pod";
  return compare_reads(local, *remote);
}

/// A Job that is to go on has a pod.
std::string compare_job(World& world, const std::string& name, const FakeJobs::Job& job) {
  if (job.suspended || !job.ended.empty()) return "";
  for (const Tree& pod : world.home.server.list(resources::pods, home_namespace))
    if (name_of(*pod).starts_with(name + "-") && !is_deleting(*pod)) return "";
  return "Job " + name + " has no pod, and goes on";
}

/// Objects at a provider whose pod at home is no more.
std::string find_leftovers(World& world, Cluster& provider) {
  const std::string ns = twin_namespace(world.home.id);
  const auto is_wanted = [&](std::string_view name, std::string_view local_uid) {
    const Tree local = world.home.server.get(resources::pods, {std::string(home_namespace), std::string(name)});
    return local && uid_of(*local) == local_uid &&
           provider_of(kube::string_at(*local, {"spec", "nodeName"})) == provider.id;
  };
  for (const Tree& shadow : provider.server.list(api::kinds::shadow_pods, ns))
    if (is_deleting(*shadow) || !is_wanted(name_of(*shadow), local_uid_of(*shadow)))
      return "ShadowPod " + std::string(name_of(*shadow)) + " is left over in " + provider.id;
  for (const Tree& pod : provider.server.list(resources::pods, ns))
    if (!is_wanted(name_of(*pod), local_uid_of(*pod)))
      return "remote pod " + std::string(name_of(*pod)) + " is left over in " + provider.id;
  for (const Tree& secret : provider.server.list(resources::secrets, ns)) {
    const std::string_view pod =
        kube::string_at(*secret, {"metadata", "annotations", api::annotations::token_pod_name});
    const std::string_view uid = kube::string_at(*secret, {"metadata", "annotations", api::annotations::token_pod_uid});
    if (!is_wanted(pod, uid)) return "Secret " + std::string(name_of(*secret)) + " is left over in " + provider.id;
  }
  return "";
}

std::string compare_config_maps(World& world, Cluster& provider) {
  for (const Tree& local : world.home.server.list(resources::config_maps, home_namespace)) {
    bool found = false;
    for (const Tree& remote : provider.server.list(resources::config_maps, twin_namespace(world.home.id)))
      found = found || (name_of(*remote).starts_with(name_of(*local)) &&
                        kube::object_at(*remote, {"data"}) == kube::object_at(*local, {"data"}));
    if (!found) return "config map " + std::string(name_of(*local)) + " is not the same in " + provider.id;
  }
  return "";
}

std::string compare_node(World& world, const std::string& name) {
  const Tree node = world.home.server.get(resources::nodes, {"", name});
  if (!node) return "node " + name + " does not exist";
  return is_ready(*node) ? "" : "node " + name + " is not Ready";
}

}  // namespace

std::string find_difference(World& world) {
  std::map<std::string, int> leading;
  for (auto& [name, daemon] : world.daemons) {
    if (!daemon->is_running()) return "liqod of " + name + " is not running";
    leading[daemon->cluster()] += daemon->leads();
    // Only a leader has all caches.
    if (daemon->leads() && !daemon->process()->has_synced()) return "liqod of " + name + " has incomplete caches";
  }
  for (const auto& [cluster, leaders] : leading)
    if (leaders != 1) return std::to_string(leaders) + " processes lead in " + cluster;
  int active = 0;
  for (const Tree& local : world.home.server.list(resources::pods, home_namespace)) {
    if (auto difference = compare_pod(world, *local); !difference.empty()) return difference;
    const json::array& owners = kube::array_at(*local, {"metadata", "ownerReferences"});
    active += !owners.empty() && phase_of(*local) == "Running";
  }
  if (active != world.replicas->replicas())
    return std::to_string(active) + " pods of web run, wanted are " + std::to_string(world.replicas->replicas());
  for (const auto& [name, job] : world.jobs.jobs())
    if (auto difference = compare_job(world, name, job); !difference.empty()) return difference;
  for (auto& [name, provider] : world.providers) {
    if (auto difference = find_leftovers(world, *provider); !difference.empty()) return difference;
    if (auto difference = compare_config_maps(world, *provider); !difference.empty()) return difference;
  }
  for (const Tree& virtual_node : world.home.server.list(api::kinds::virtual_nodes))
    if (auto difference = compare_node(world, std::string(name_of(*virtual_node))); !difference.empty())
      return difference;
  return find_replication_difference(world);
}

std::vector<std::string> list_writes(World& world, kube::TimePoint after) {
  std::vector<std::string> writes;
  const auto take = [&writes, after](Cluster& cluster) {
    for (const kube::testing::FakeWrite& write : cluster.server.writes())
      if (write.at > after && write.actor.starts_with("liqod-") && write.plural != "leases" &&
          write.plural != "nodes" && write.plural != "events")
        writes.push_back(write.method + " " + write.plural + " " + write.key.text() + " " + write.subresource + " by " +
                         write.actor + " in " + cluster.id + ": " + std::to_string(write.code));
  };
  take(world.home);
  for (auto& [name, provider] : world.providers) take(*provider);
  return writes;
}

}  // namespace liqo::sim
