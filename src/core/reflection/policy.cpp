#include "core/reflection/policy.hpp"

#include <algorithm>
#include <set>

#include "core/nodes/node_extras.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/vk_options_template.hpp"

namespace liqo::core::reflection {
namespace {

namespace json = kube::json;

/// The most bytes of a word of a template that are shown.
constexpr std::size_t max_word = 64;
constexpr KindPolicy switched_off{.selection = SelectionPolicy::allow_list, .workers = 0};

std::optional<int> read_workers(std::string_view text) {
  const auto number = kube::read_number<int>(text);
  if (!number || *number < 0) return std::nullopt;
  // The Go version has no upper bound, so greater numbers are lowered and not refused.
  return std::min(*number, max_workers);
}

/// The value of an option, which may be given as one argument or as two. The last one counts, as on a command line.
/// nullopt = not given.
std::optional<std::string> value_of(const std::vector<std::string>& arguments, const std::string& option) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(option + "="))
      value = arguments[i].substr(option.size() + 1);
    else if (arguments[i] == option)
      value = i + 1 < arguments.size() ? arguments[i + 1] : "";
  }
  return value;
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

/// Whether a switch is on, by the rules of the Go version. The last one counts. nullopt = not given.
std::optional<bool> switch_of(const std::vector<std::string>& arguments, const std::string& option) {
  std::optional<bool> is_on;
  for (const std::string& argument : arguments) {
    if (argument == option) is_on = true;
    if (argument.starts_with(option + "="))
      is_on = kube::read_bool(std::string_view(argument).substr(option.size() + 1)).value_or(false);
  }
  return is_on;
}

/// The setting for a kind, from its option or else from the configuration; "" = none.
std::string said_of(const api::VkOptionsTemplate& view, const std::vector<std::string>& arguments,
                    const std::string& name, const std::string& field) {
  if (const auto argument = value_of(arguments, "--" + name + "-reflection-" + field)) return *argument;
  const json::value* config = kube::find(view.reflectors_config(), {name, field});
  return config && !config->is_null() ? text_of(*config) : "";
}

/// The kind in the name of a reflection option; "" = another option.
std::string_view kind_of_option(std::string_view argument) {
  const std::string_view option = argument.substr(0, argument.find('='));
  for (const std::string_view end : {"-reflection-workers", "-reflection-type"})
    if (option.starts_with("--") && option.ends_with(end))
      return option.substr(2, option.size() - std::min(option.size(), end.size() + 2));
  return {};
}

/// The options that are followed, or reported together with their value.
bool is_known_option(std::string_view argument) {
  constexpr std::string_view known[] = {"--audience-tokens", "--enable-apiserver-support", "--disable-ip-reflection",
                                        "--enable-storage",  "--pod-certificates",         "--trust-bundles"};
  const std::string_view option = argument.substr(0, argument.find('='));
  return !kind_of_option(argument).empty() || std::ranges::find(known, option) != std::end(known);
}

/// The non-empty settings for a separate virtual kubelet, which does not exist here, as text; "" = none.
std::string of_separate_kubelet(const kube::Object& options_template) {
  std::vector<std::string> given;
  for (const std::string_view field : fields_of_separate_kubelet) {
    const json::value* said = kube::find(options_template.spec(), {field});
    if (!said || said->is_null()) continue;
    const bool is_empty = (said->is_object() && said->get_object().empty()) ||
                          (said->is_array() && said->get_array().empty()) ||
                          (said->is_string() && said->get_string().empty());
    if (!is_empty) given.emplace_back(field);
  }
  return given.empty() ? "" : kube::join(given, ", ") + " (there is no separate virtual kubelet)";
}

/// A setting for one kind, and where it stands.
struct Word {
  std::string where;
  std::string value;
};

/// Why `serviceaccount` has no workers, a clause; "" = it has some.
std::string why_no_workers(const api::VkOptionsTemplate& view, const std::vector<std::string>& arguments) {
  const std::string workers = said_of(view, arguments, "serviceaccount", "workers");
  if (!workers.empty() && !read_workers(workers))
    return "workers of serviceaccount is " + kube::in_quotes(workers) + " and not a number";
  return !workers.empty() && *read_workers(workers) == 0 ? "serviceaccount has no workers" : "";
}

/// The names as a text, such as "DenyList or AllowList".
std::string names_of_selections(const ReflectedKind& kind) {
  std::string names;
  const std::vector<SelectionPolicy> selections = selections_of(kind);
  for (std::size_t i = 0; i < selections.size(); ++i)
    names += (i == 0 ? "" : i + 1 < selections.size() ? ", " : " or ") + std::string(name_of(selections[i]));
  return names;
}

/// Applies the setting to the policy, or returns a clause that says what is wrong with it.
std::optional<std::string> apply(const ReflectedKind& kind, const Word& word, bool is_type, KindPolicy& policy) {
  if (is_type) {
    if (const auto selection = read_selection(kind, word.value)) {
      policy.selection = *selection;
      return std::nullopt;
    }
  } else if (const auto workers = read_workers(word.value)) {
    policy.workers = *workers;
    return std::nullopt;
  }
  return word.where + " is " + kube::in_quotes(word.value, max_word) + " and not " +
         (is_type ? names_of_selections(kind) : "a number");
}

}  // namespace

std::vector<SelectionPolicy> selections_of(const ReflectedKind& kind) {
  std::vector<SelectionPolicy> selections{SelectionPolicy::deny_list, SelectionPolicy::allow_list};
  if (kind.referred_only) selections.push_back(SelectionPolicy::all);
  return selections;
}

std::optional<SelectionPolicy> read_selection(const ReflectedKind& kind, std::string_view text) {
  for (const SelectionPolicy policy : selections_of(kind))
    if (name_of(policy) == text) return policy;
  return std::nullopt;
}

std::string_view name_of(SelectionPolicy policy) {
  switch (policy) {
    case SelectionPolicy::deny_list:
      return "DenyList";
    case SelectionPolicy::allow_list:
      return "AllowList";
    case SelectionPolicy::all:
      return "All";
  }
  return "";
}

std::string option_name(const ReflectedKind& kind) { return kube::lower_case(kind.name); }

KindPolicy Policies::of(const ReflectedKind& kind) const {
  const auto found = kinds_.find(option_name(kind));
  KindPolicy policy = found == kinds_.end() ? KindPolicy() : found->second;
  if (const ReflectedKind* other = find_reflected_kind(kind.typed_as)) policy.selection = of(*other).selection;
  return policy;
}

TemplatePolicies policies_under(const Policies& usual, const kube::Object& options_template,
                                std::span<const std::string> custom) {
  TemplatePolicies out{.policies = usual, .mistakes = {}};
  const api::VkOptionsTemplate view(options_template);
  const std::vector<std::string> arguments = view.extra_args();
  const auto read = [&](const ReflectedKind& kind) {
    const std::string name = option_name(kind);
    KindPolicy policy = usual.of(kind);
    bool is_wrong = false;
    for (const bool is_type : {true, false}) {
      if (is_type && !kind.typed_as.empty()) continue;
      const auto follow = [&](const Word& word) {
        auto mistake = apply(kind, word, is_type, policy);
        if (!mistake) return;
        is_wrong = true;
        out.mistakes.push_back(std::move(*mistake));
      };
      const std::string field = is_type ? "type" : "workers";
      const json::value* config = kube::find(view.reflectors_config(), {name, field});
      // An omitted type may be stored as an empty string.
      if (config && !config->is_null() && !text_of(*config).empty())
        follow({"reflectorsConfig." + name + "." + field, text_of(*config)});
      const std::string option = "--" + name + "-reflection-" + field;
      if (const auto argument = value_of(arguments, option)) follow({option, *argument});
    }
    out.policies.set(kind, is_wrong ? switched_off : policy);
  };
  for (const ReflectedKind* kind : reflected_kinds()) read(*kind);
  for (const std::string& name : custom) read({.name = name, .resource = {}, .forge = nullptr});
  return out;
}

std::vector<std::string> not_followed(const kube::Object& options_template, const Policies& policies,
                                      std::span<const std::string> custom, const AlwaysDone& done) {
  const api::VkOptionsTemplate view(options_template);
  const std::vector<std::string> arguments = view.extra_args();
  std::vector<std::string> found;
  std::set<std::string, std::less<>> known(custom.begin(), custom.end());
  for (const ReflectedKind* kind : reflected_kinds()) {
    const std::string name = option_name(*kind);
    known.insert(name);
    if (kind->typed_as.empty()) continue;
    const std::string type = said_of(view, arguments, name, "type");
    // The Go version's defaults have this type for these kinds.
    if (!type.empty() && type != "CustomLiqo" && type != name_of(policies.of(*kind).selection))
      found.push_back("type " + std::string(kube::cut_text(type, max_word)) + " of " + name + " (what is said of " +
                      option_name(*find_reflected_kind(kind->typed_as)) + " holds)");
  }
  // The setting for service accounts is followed by `why_tokens_withheld`.
  known.insert("serviceaccount");
  for (const auto& [name, is_done] :
       {std::pair<std::string, bool>{"pod", true}, {"event", true}, {"persistentvolumeclaim", done.offers_storage}}) {
    known.insert(name);
    if (is_done && said_of(view, arguments, name, "workers") == "0") found.push_back("no workers for " + name);
    if (is_done && said_of(view, arguments, name, "type") == "AllowList") found.push_back("type AllowList of " + name);
  }
  std::set<std::string, std::less<>> unknown;
  for (const auto& [key, value] : view.reflectors_config()) unknown.emplace(kube::cut_text(key, max_word));
  for (const std::string& argument : arguments)
    if (const std::string_view kind = kind_of_option(argument); !kind.empty())
      unknown.emplace(kube::cut_text(kind, max_word));
  for (const std::string& name : unknown)
    if (!known.contains(name)) found.push_back("what is said of " + name + " (no such kind)");
  for (const std::string& argument : arguments)
    if (argument.starts_with('-') && !is_known_option(argument))
      found.push_back("extraArgs " + std::string(kube::cut_text(argument, max_word)));
  for (const std::string& clause : core::node_extras(options_template).refused)
    found.push_back(clause + " (reserved, or none that a Node can have)");
  if (const std::string kubelet = of_separate_kubelet(options_template); !kubelet.empty()) found.push_back(kubelet);
  if (done.shows_addresses && switch_of(arguments, "--disable-ip-reflection").value_or(false))
    found.emplace_back("--disable-ip-reflection");
  if (done.offers_storage && !switch_of(arguments, "--enable-storage").value_or(true))
    found.emplace_back("--enable-storage=false");
  constexpr std::size_t max_named = 20;
  if (found.size() > max_named) found.resize(max_named);
  return found;
}

std::string why_tokens_withheld(const kube::Object& options_template) {
  const api::VkOptionsTemplate view(options_template);
  const std::vector<std::string> arguments = view.extra_args();
  if (std::string why = why_no_workers(view, arguments); !why.empty()) return why;
  if (!switch_of(arguments, "--enable-apiserver-support").value_or(true)) return "--enable-apiserver-support is false";
  return {};
}

std::string why_audience_tokens_withheld(const kube::Object& options_template) {
  const api::VkOptionsTemplate view(options_template);
  const std::vector<std::string> arguments = view.extra_args();
  if (std::string why = why_no_workers(view, arguments); !why.empty()) return why;
  const auto said = value_of(arguments, "--audience-tokens");
  if (!said || *said == "always") return {};
  return *said == "never" ? "--audience-tokens is never"
                          : "--audience-tokens is " + kube::in_quotes(*said) + " and neither always nor never";
}

bool leaves_to_provider(const kube::Object& options_template, const std::string& option) {
  const auto said = value_of(api::VkOptionsTemplate(options_template).extra_args(), option);
  return said && *said != "home";
}

std::string describe_withheld(const std::string& for_api_server, const std::string& by_name) {
  if (for_api_server.empty() && by_name.empty()) return {};
  std::string which = "tokens of this cluster", why = for_api_server;
  if (for_api_server.empty()) {
    which = "tokens with an audience of their own";
    why = by_name;
  } else if (by_name.empty()) {
    which = "tokens for the API server at home";
  } else if (by_name != for_api_server) {
    why += ", and " + by_name;
  }
  return "pods that are offloaded from now on get no " + which + ", because of the VkOptionsTemplate: " + why;
}

std::string describe_mistakes(const TemplatePolicies& policies) {
  std::string text;
  if (!policies.mistakes.empty())
    text = "the VkOptionsTemplate has mistakes (" + kube::join(policies.mistakes, ", ") +
           "), so these kinds are not reflected";
  if (!policies.not_followed.empty())
    text += (text.empty() ? "" : "; ") +
            ("the VkOptionsTemplate asks for what is not supported: " + kube::join(policies.not_followed, ", "));
  return text;
}

}  // namespace liqo::core::reflection
