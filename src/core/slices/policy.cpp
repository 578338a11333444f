#include "core/slices/policy.hpp"

#include <algorithm>

#include "core/common/names.hpp"
#include "core/slices/provider_words.hpp"
#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/annotations.hpp"

namespace liqo::core {
namespace {

constexpr std::string_view blanks = " \t\r\n";

std::unexpected<kube::Failure> wrong(std::string text) {
  return kube::fail(kube::Errc::invalid_input, std::move(text));
}

/// The parts between commas and line ends, without empty ones.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (const std::string_view line : kube::split(text, '\n'))
    for (std::string_view part : kube::split(line, ','))
      if (part = kube::trim(part, blanks); !part.empty()) parts.push_back(part);
  return parts;
}

kube::Result<std::map<std::string, std::string>> read_pairs(std::string_view text) {
  std::map<std::string, std::string> pairs;
  for (const std::string_view part : parts_of(text)) {
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos || sign == 0)
      return wrong(kube::in_quotes(part) + " is not of the form name=value");
    pairs.insert_or_assign(std::string(kube::trim(part.substr(0, sign), blanks)),
                           std::string(kube::trim(part.substr(sign + 1), blanks)));
  }
  return pairs;
}

kube::Result<Resources> read_amounts(std::string_view text) {
  KUBE_TRY(pairs, read_pairs(text));
  Resources amounts;
  for (const auto& [name, value] : pairs) {
    auto quantity = kube::Quantity::parse(value);
    if (!is_label_key(name)) return wrong(kube::in_quotes(name) + " is not the name of a resource");
    if (!quantity || quantity->sign() < 0)
      return wrong(name + ": " + kube::in_quotes(value) + " is not a quantity such as 500m or 8Gi");
    amounts.emplace(name, *quantity);
  }
  return amounts;
}

kube::Result<std::vector<OfferedClass>> read_classes(std::string_view text) {
  std::vector<OfferedClass> classes;
  for (std::string_view part : parts_of(text)) {
    OfferedClass offered;
    if (const std::size_t mark = part.find(';'); mark != std::string_view::npos) {
      if (kube::trim(part.substr(mark + 1), blanks) != "default")
        return wrong(kube::in_quotes(part) + ": only \";default\" may follow the name of a class");
      offered.is_default = true;
      part = kube::trim(part.substr(0, mark), blanks);
    }
    if (!is_dns_subdomain(part)) return wrong(kube::in_quotes(part) + " is not the name of a class");
    offered.name = part;
    for (const OfferedClass& other : classes)
      if (other.is_default && offered.is_default) return wrong("two classes are marked as default");
    classes.push_back(std::move(offered));
  }
  return classes;
}

kube::Result<std::map<std::string, std::string>> read_labels(std::string_view text) {
  auto pairs = read_pairs(text);
  if (!pairs) return pairs;
  for (const auto& [name, value] : *pairs)
    if (!is_label_key(name) || !is_label_value(value))
      return wrong(kube::in_quotes(name + "=" + value) + " is not a label");
  return pairs;
}

kube::Result<bool> read_switch(std::string_view text) {
  const auto is_on = kube::read_bool(text);
  if (!is_on) return wrong(kube::in_quotes(text) + " is neither true nor false");
  return *is_on;
}

kube::Result<int> read_percentage(std::string_view text) {
  const auto number = kube::read_number<int>(text);
  if (!number || *number < 0 || *number > 100)
    return wrong(kube::in_quotes(text) + " is not a whole number from 0 to 100");
  return *number;
}

kube::Result<std::string> read_enforcement(std::string_view text) {
  for (const std::string_view known : {"None", "Soft", "Hard"})
    if (kube::lower_case(text) == kube::lower_case(known)) return std::string(known);
  return wrong(kube::in_quotes(text) + " is none of None, Soft and Hard");
}

kube::Result<std::string> read_class_name(std::string_view text) {
  if (!text.empty() && !is_dns_subdomain(text)) return wrong(kube::in_quotes(text) + " is not the name of a class");
  return std::string(text);
}

/// One of the settings: how its text is read into a policy, and how it is taken from another policy.
struct Setting {
  std::string_view name;
  kube::Result<void> (*set)(SlicePolicy& policy, std::string_view text);
  void (*take)(SlicePolicy& policy, const SlicePolicy& from);
};

template <auto Field, auto Read>
constexpr Setting setting(std::string_view name) {
  return {.name = name,
          .set = [](SlicePolicy& policy, std::string_view text) -> kube::Result<void> {
            KUBE_TRY(read, Read(text));
            policy.*Field = std::move(read);
            return {};
          },
          .take = [](SlicePolicy& policy, const SlicePolicy& from) { policy.*Field = from.*Field; }};
}

using namespace policy_settings;
constexpr Setting settings[] = {
    setting<&SlicePolicy::defaults, read_amounts>(default_resources),
    setting<&SlicePolicy::sharing_percentage, read_percentage>(percentage),
    setting<&SlicePolicy::limits_enforcement, read_enforcement>(enforcement),
    setting<&SlicePolicy::default_class_enabled, read_switch>(default_class),
    setting<&SlicePolicy::share_class_enabled, read_switch>(share_class_switch),
    setting<&SlicePolicy::storage_enabled, read_switch>(storage),
    setting<&SlicePolicy::storage_class, read_class_name>(storage_class_name),
    setting<&SlicePolicy::ingress_classes, read_classes>(ingress),
    setting<&SlicePolicy::load_balancer_classes, read_classes>(load_balancers),
    setting<&SlicePolicy::cluster_labels, read_labels>(labels),
};

const Setting* find_setting(std::string_view name) {
  const auto* found = std::ranges::find(settings, name, &Setting::name);
  return found == std::end(settings) ? nullptr : found;
}

}  // namespace

std::string ReadPolicy::mistake() const {
  if (unknown.empty()) return {};
  const auto& [name, why] = *unknown.begin();
  return "the provider's settings cannot be read (" + name + ": " + why +
         "): " + std::string(slice_advice::to_correct) + "ConfigMap " + std::string(policy_config_map);
}

kube::Result<void> set_policy(SlicePolicy& policy, std::string_view name, std::string_view text) {
  const Setting* setting = find_setting(name);
  if (!setting) return wrong("there is no setting of this name");
  return setting->set(policy, kube::trim(text, blanks));
}

PolicyReading read_policy(const SlicePolicy& flags, const kube::Object* config_map, const ReadPolicy* last) {
  PolicyReading reading{.policy = {flags}, .mistakes = {}};
  if (!config_map) return reading;
  for (const auto& [key, value] : kube::object_at(config_map->tree(), {"data"})) {
    if (!value.is_string()) continue;
    const std::string name(key);
    auto set = set_policy(reading.policy, name, value.get_string());
    if (set) continue;
    const Setting* setting = find_setting(name);
    const bool is_known = last && !last->unknown.contains(name);
    if (setting && is_known) setting->take(reading.policy, *last);
    if (setting && !is_known) reading.policy.unknown.emplace(name, set.error().text());
    reading.mistakes.push_back(name + ": " + set.error().text() +
                               (!setting   ? ""
                                : is_known ? "; what it said before holds on"
                                           : "; nothing new is granted until it is corrected"));
  }
  return reading;
}

kube::Result<std::optional<int>> read_tenant_percentage(const kube::Object& tenant) {
  if (!tenant.has_annotation(api::annotations::sharing_percentage)) return std::optional<int>();
  KUBE_TRY(percent, read_percentage(kube::trim(tenant.annotation(api::annotations::sharing_percentage), blanks)),
           "annotation " + std::string(api::annotations::sharing_percentage));
  return std::optional<int>(percent);
}

}  // namespace liqo::core
