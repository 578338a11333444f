// The files of charts/liqo as embed_chart.py builds them into this program: packed, because the image's size is
// bounded.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace liqoctl {

struct PackedChart {
  struct Entry {
    std::string_view path;
    std::size_t size;  ///< in bytes, unpacked
  };
  std::span<const unsigned char> gzip;  ///< the files one after the other, as one gzip stream
  std::span<const Entry> entries;       ///< in the order of the stream
};

PackedChart packed_chart();

}  // namespace liqoctl
