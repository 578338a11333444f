#include "liqo/core/slices/policy.hpp"

#include "kube/base/printable.hpp"
#include "kube/base/scalar.hpp"
#include "kube/base/text.hpp"
#include "liqo/api/labels.hpp"
#include "liqo/core/names.hpp"

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
  auto pairs = read_pairs(text);
  if (!pairs) return std::unexpected(std::move(pairs.error()));
  Resources amounts;
  for (const auto& [name, value] : *pairs) {
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
  if (!number || *number < 1 || *number > 100)
    return wrong(kube::in_quotes(text) + " is not a whole number from 1 to 100");
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

template <class Field, class Value>
kube::Result<void> assign(Field& field, kube::Result<Value> read) {
  if (!read) return std::unexpected(std::move(read.error()));
  field = std::move(*read);
  return {};
}

}  // namespace

kube::Result<void> set_policy(SlicePolicy& policy, std::string_view name, std::string_view text) {
  text = kube::trim(text, blanks);
  if (name == "default-node-resources") return assign(policy.defaults, read_amounts(text));
  if (name == "sharing-percentage") return assign(policy.sharing_percentage, read_percentage(text));
  if (name == "default-limits-enforcement") return assign(policy.limits_enforcement, read_enforcement(text));
  if (name == "default-resource-slice-class-enabled") return assign(policy.default_class_enabled, read_switch(text));
  if (name == "share-resource-slice-class-enabled") return assign(policy.share_class_enabled, read_switch(text));
  if (name == "enable-storage") return assign(policy.storage_enabled, read_switch(text));
  if (name == "real-storage-class-name") return assign(policy.storage_class, read_class_name(text));
  if (name == "ingress-classes") return assign(policy.ingress_classes, read_classes(text));
  if (name == "load-balancer-classes") return assign(policy.load_balancer_classes, read_classes(text));
  if (name == "cluster-labels") return assign(policy.cluster_labels, read_labels(text));
  return wrong("there is no setting of this name");
}

PolicyReading read_policy(const SlicePolicy& flags, const kube::Object* config_map) {
  PolicyReading reading{.policy = flags, .mistakes = {}};
  if (!config_map) return reading;
  for (const auto& [name, value] : kube::object_at(config_map->tree(), {"data"})) {
    if (!value.is_string()) continue;
    auto set = set_policy(reading.policy, name, value.get_string());
    if (!set) reading.mistakes.push_back(std::string(name) + ": " + set.error().text());
  }
  return reading;
}

int sharing_percentage(const SlicePolicy& policy, const kube::Object& tenant) {
  const auto own = read_percentage(kube::trim(tenant.annotation(api::annotations::sharing_percentage), blanks));
  return own ? *own : policy.sharing_percentage;
}

}  // namespace liqo::core
