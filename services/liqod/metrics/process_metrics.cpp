#include "process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "telemetry/families.hpp"

namespace liqod {
namespace families = liqo::families;

ProcessMetrics::ProcessMetrics(kube::Metrics& metrics)
    : resident_(metrics.gauge(families::resident)), cpu_(metrics.counter(families::cpu)) {
  metrics.gauge(families::build, {{"version", LIQOD_VERSION}}).set(1);
}

void ProcessMetrics::refresh() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  if (statm >> total >> resident) resident_.set(resident * double(sysconf(_SC_PAGESIZE)));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  cpu_.add(seconds(usage.ru_utime) + seconds(usage.ru_stime) - cpu_.value());
}

}  // namespace liqod
