#include "controllers/common/options_templates.hpp"

namespace liqo::controllers {

OptionsTemplates::OptionsTemplates(const Context& context)
    : liqo_namespace_(context.settings.liqo_namespace),
      templates_(context.home.acquire({.resource = api::kinds::vk_options_templates})) {}

}  // namespace liqo::controllers
