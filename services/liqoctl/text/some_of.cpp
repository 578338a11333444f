#include "text/some_of.hpp"

#include "kube/base/text.hpp"

namespace liqoctl::text {

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  const std::string named = kube::join(names | std::views::take(most), ", ");
  return names.size() > most ? named + " and " + std::to_string(names.size() - most) + " more" : named;
}

}  // namespace liqoctl::text
