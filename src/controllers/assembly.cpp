#include "liqo/controllers/assembly.hpp"

#include "liqo/controllers/shadow_pod.hpp"

namespace liqo::controllers {

std::vector<std::unique_ptr<Runnable>> make_controllers(const asio::any_io_executor& executor, Context context) {
  std::vector<std::unique_ptr<Runnable>> made;
  made.push_back(std::make_unique<ShadowPodController>(executor, context));
  return made;
}

}  // namespace liqo::controllers
