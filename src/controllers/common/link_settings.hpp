// Options of an operator that bound the cost of one provider.
#pragma once

namespace liqo::controllers {

/// The options of liqod that bound the cost of one provider. A default here is that of the option.
struct LinkSettings {
  /// The most that is cached of one provider, over all its virtual nodes: MiB of JSON, and objects.
  int provider_cache_mib = 128, provider_cache_objects = 100'000;
  /// Writes in this cluster that one provider may cause, in a burst and at a steady rate: statuses and ends of pods.
  int provider_write_burst = 5'000, provider_writes_per_second = 100;
};

}  // namespace liqo::controllers
