#include "core/common/names.hpp"
#include "core/reflection/policy.hpp"
#include "kube/base/text.hpp"
#include "options/groups.hpp"

namespace liqod {
namespace {

/// Whether a text names a key of labels and annotations or, with `patterns`, all keys of a domain.
bool names_keys(std::string_view text, bool patterns) {
  const bool is_domain = patterns && text.ends_with("/*");
  return liqo::core::is_label_key(is_domain ? std::string(text.substr(0, text.size() - 1)) + "x" : std::string(text));
}

/// Keys separated by commas, which replace the default ones; "" means none.
void add_keys(cli::Command app, const char* name, std::vector<std::string>& into, const char* what,
              bool patterns = false) {
  const auto read = [&into, patterns](const std::vector<std::string>& texts) -> kube::Result<void> {
    into.clear();
    for (const std::string& text : texts)
      for (const std::string_view part : kube::split(text, ',')) {
        if (part == "{}") continue;
        std::string key(part);
        if (!names_keys(key, patterns))
          return kube::fail(kube::Errc::invalid_input, "is a key that no label or annotation can have: " + key);
        into.push_back(std::move(key));
      }
    return {};
  };
  app.list(name, read, what).allow_empty();
}

/// Custom resources, which are not in the table of kinds.
void add_custom_resources(cli::Command app, liqo::controllers::Settings& settings) {
  const auto read = [&settings](const std::vector<std::string>& texts) -> kube::Result<void> {
    for (const std::string& text : texts) {
      KUBE_TRY(custom, liqo::core::reflection::read_custom_resource(text));
      const std::string name = custom.resource.name();
      for (const auto& known : settings.reflection.custom_resources)
        if (known.name() == name) return kube::fail(kube::Errc::invalid_input, "names " + name + " twice");
      settings.reflection.kinds.set({.name = name, .resource = {}, .forge = nullptr}, custom.policy);
      settings.reflection.custom_resources.push_back(std::move(custom.resource));
    }
    return {};
  };
  app.list("--reflect-custom", read,
           "A custom resource to reflect, by the name of its CRD and its options, such as "
           "widgets.example.org,status,type=AllowList,workers=8: status brings its status home; type and workers are "
           "as for other kinds (DenyList, 32). May be given more than once");
}

/// What --help says of the workers of a kind; the values of the chart say the same (tools/reference).
std::string describe_workers(const liqo::core::reflection::ReflectedKind& kind) {
  std::string text = std::string(kind.plural) +
                     " worked on at a time, per provider; 0: none is reflected, and existing copies stay as they are";
  if (const auto* other = liqo::core::reflection::find_reflected_kind(kind.typed_as))
    text += ". The type of " + std::string(other->plural) + " holds for them, too";
  return text;
}

/// What --help says of the type of a kind.
std::string describe_type(const liqo::core::reflection::ReflectedKind& kind) {
  const std::string which = "Which " + std::string(kind.plural) + " are reflected: ";
  if (!kind.referred_only)
    return which +
           "all but those annotated liqo.io/skip-reflection (DenyList), or only those annotated "
           "liqo.io/allow-reflection (AllowList)";
  return which +
         "those that are referred to or annotated, and all of namespaces whose pods stay here (DenyList), only those "
         "annotated liqo.io/allow-reflection (AllowList), or all but those annotated liqo.io/skip-reflection (All)";
}

/// The policy of each kind.
void add_policies(cli::Command app, liqo::core::reflection::Policies& policies) {
  namespace reflection = liqo::core::reflection;
  for (const reflection::ReflectedKind* kind : reflection::reflected_kinds()) {
    const std::string option = "--" + reflection::option_name(*kind) + "-reflection-";
    app.number(
           option + "workers",
           [&policies, kind](int workers) {
             reflection::KindPolicy policy = policies.of(*kind);
             policy.workers = workers;
             policies.set(*kind, policy);
           },
           {.least = 0, .most = reflection::max_workers}, describe_workers(*kind))
        .preset(std::to_string(policies.of(*kind).workers));
    if (!kind->typed_as.empty()) continue;
    std::vector<std::string> types;
    for (const reflection::SelectionPolicy selection : reflection::selections_of(*kind))
      types.emplace_back(reflection::name_of(selection));
    app.option(
           option + "type",
           [&policies, kind](const std::string& type) -> kube::Result<void> {
             reflection::KindPolicy policy = policies.of(*kind);
             policy.selection =
                 reflection::read_selection(*kind, type).value_or(reflection::SelectionPolicy::allow_list);
             policies.set(*kind, policy);
             return {};
           },
           describe_type(*kind))
        .member_of(std::move(types))
        .preset(reflection::name_of(policies.of(*kind).selection));
  }
}

}  // namespace

void add_reflection_options(cli::Command app, liqo::controllers::Settings& settings) {
  add_policies(app, settings.reflection.kinds);
  add_custom_resources(app, settings);
  add_keys(app, "--labels-not-reflected", settings.reflection.not_reflected.labels,
           "Keys of labels that are left out of reflected objects and ShadowPods, key,...");
  add_keys(app, "--annotations-not-reflected", settings.reflection.not_reflected.annotations,
           "Keys of annotations that are left out, key,...; by default those that load balancers and Ingress "
           "controllers of clouds, MetalLB and OpenStack write, as in Go Liqo's chart; none if empty");
  add_keys(
      app, "--reflection-keep-keys", settings.reflection.kept_keys,
      "Keys of labels and annotations that copies of Secrets, ConfigMaps and claims keep, key,..., though controllers "
      "of a provider may take orders by them; domain/* names all of a domain",
      true);
}

}  // namespace liqod
