#include "installation/chart.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include "installation/packed_chart.hpp"
#include "kube/wire/gzip_decoder.hpp"

namespace liqoctl {
namespace {

/// Unpacks the files. Every test that installs would notice a wrong byte, so no error is returned.
std::string unpack(std::span<const unsigned char> gzip) {
  kube::wire::GzipDecoder decoder;
  decoder.feed(std::string(gzip.begin(), gzip.end()));
  std::string text;
  while (true) {
    auto block = decoder.take();
    if (!block) throw std::logic_error("the chart in this program cannot be unpacked: " + block.error().text());
    if (block->empty()) return text;
    text += *block;
  }
}

}  // namespace

std::span<const chart::File> chart_files() {
  static const std::string text = unpack(packed_chart().gzip);
  static const std::vector<chart::File> files = [] {
    std::vector<chart::File> found;
    std::string_view rest = text;
    for (const auto& [path, size] : packed_chart().entries) {
      found.push_back({path, rest.substr(0, size)});
      rest.remove_prefix(size);
    }
    return found;
  }();
  return files;
}

}  // namespace liqoctl
