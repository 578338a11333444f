// What an operator sets about what one provider may cost.
#pragma once

namespace liqo::controllers {

/// The options of liqod about what one provider may cost. A default here is that of the option.
struct LinkSettings {
  /// What is held of one provider at most, over all its virtual nodes: MiB of JSON, and objects.
  int provider_cache_mib = 128, provider_cache_objects = 100'000;
  /// Writes in this cluster that one provider may cause, in a row and at a pace: statuses and ends of pods.
  int provider_write_burst = 5'000, provider_writes_per_second = 100;
};

}  // namespace liqo::controllers
