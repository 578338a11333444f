#include "memory_limit.hpp"

#include <algorithm>

#include "kube/base/memory_account.hpp"
#include "kube/base/scalar.hpp"
#include "kube/net/read_file.hpp"

namespace liqod {

std::optional<std::size_t> memory_limit(const std::string& own_group, const std::string& root) {
  // The line of cgroup v2 is such as "0::/kubepods/pod1/a". In a container the path is mostly "/".
  const std::size_t begins = own_group.starts_with("0::/") ? 0 : own_group.find("\n0::/");
  if (begins == std::string::npos) return std::nullopt;
  const std::size_t path_at = own_group.find('/', begins);
  std::string path = own_group.substr(path_at, own_group.find('\n', path_at) - path_at);
  std::optional<std::size_t> least;
  while (true) {
    if (const auto text = kube::net::read_file(root + path + "/memory.max")) {
      const auto number = kube::read_number<std::size_t>(text->substr(0, text->find('\n')));
      if (number) least = std::min(least.value_or(*number), *number);
    }
    if (path.empty()) return least;
    path.erase(path.rfind('/'));
  }
}

void bound_answers() {
  const auto own_group = kube::net::read_file("/proc/self/cgroup");
  if (!own_group) return;
  if (const auto limit = memory_limit(*own_group, "/sys/fs/cgroup"))
    kube::MemoryAccount::of_process()->set_limit(*limit / 4);
}

}  // namespace liqod
