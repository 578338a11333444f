#include "shared.hpp"

#include "liqo/api/labels.hpp"
#include "model/objects.hpp"
#include "text/yaml.hpp"

namespace liqoctl {

using kube::Errc;

void print_object(Session& session, const Object& object) {
  session.output().print(session.flags().output == Format::json ? text::pretty_json(object.tree())
                                                                : text::yaml(object.tree()));
}

void print_objects(Session& session, const std::vector<Object>& objects) {
  if (objects.size() == 1) {
    print_object(session, objects.front());
    return;
  }
  if (session.flags().output == Format::json) {
    kube::json::array items;
    for (const Object& object : objects) items.push_back(object.tree());
    session.output().print(
        text::pretty_json(kube::json::object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}}));
    return;
  }
  for (const Object& object : objects) session.output().print("---\n" + text::yaml(object.tree()));
}

asio::awaitable<Result<kube::ObjectKey>> find_one(Cluster& cluster, kube::Resource resource, std::string name,
                                                  std::string peer) {
  std::string selector;
  if (!peer.empty()) selector = std::string(liqo::api::labels::remote_cluster_id) + "=" + peer;
  auto found = co_await cluster.list(resource, cluster.flags().ns, selector, "metadata.name=" + name);
  if (!found) co_return std::unexpected(std::move(found.error()));
  const std::string what = std::string(resource.kind) + " " + name;
  if (found->empty())
    co_return kube::fail(Errc::missing, "there is no " + what + (peer.empty() ? "" : " of " + peer) + " in cluster " +
                                            cluster.api().cluster() + " (liqoctl get " +
                                            std::string(resource.plural.substr(0, resource.plural.size() - 1)) +
                                            " lists what there is)");
  if (found->size() > 1) {
    std::string places;
    for (const Object& object : *found) places += (places.empty() ? "" : ", ") + std::string(object.ns());
    co_return kube::fail(Errc::invalid_input, what + " is in several namespaces: choose by --namespace from " + places);
  }
  co_return found->front().key();
}

void add_resource_flags(Command app, model::ResourceFlags& flags, std::string_view heading,
                        std::array<std::string_view, 3> defaults) {
  struct Amount {
    const char* flag;
    std::string& into;
    std::string what;
  };
  std::size_t next = 0;
  for (const Amount& amount :
       {Amount{"cpu", flags.cpu, "CPUs, e.g. 4 or 500m"}, Amount{"memory", flags.memory, "Memory, e.g. 8Gi"},
        Amount{"pods", flags.pods, "Number of pods"}}) {
    const std::string_view usual = defaults[next++];
    app.option(std::string("--") + amount.flag, amount.into,
               amount.what + (usual.empty() ? "" : " (default " + std::string(usual) + ")"))
        .group(heading)
        .type_name("AMOUNT")
        .check([resource = std::string(amount.flag)](const std::string& given) {
          return model::check_amount(resource, given);
        });
  }
  app.list("--resource", flags.others, "Any other resource, e.g. nvidia.com/gpu=2; may be repeated")
      .group(heading)
      .type_name("NAME=AMOUNT")
      .check([](const std::string& given) { return model::check_pair(given); });
}

Option check_names(Option option, std::size_t longest) {
  return option.check([longest](const std::string& given) { return model::check_name(given, longest); });
}

}  // namespace liqoctl
