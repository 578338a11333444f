// The provider's record of what was negotiated about a slice. It is kept on the Quota, where no consumer can write.
// Tested by test/unit/core/slices/grant_test.cpp.
#pragma once

#include <optional>
#include <string>

#include "core/common/resources.hpp"
#include "kube/k8s/object.hpp"

namespace liqo::core {

/// The last request that was granted, and the grant. A request that equals it is not evaluated again, so that new
/// defaults leave accepted slices alone.
struct SliceRecord {
  std::string slice_class;  ///< "" = not known: the Quota was made by the Go version
  Resources request;
  Resources granted;
};

/// The record on a Quota that belongs to the slice of that UID; nothing if the Quota belongs to an earlier slice of the
/// same name. From a Quota without a readable record only the granted amounts are known.
std::optional<SliceRecord> read_slice_record(const kube::Object& quota, std::string_view slice_uid);
/// The text that `read_slice_record` reads.
std::string write_slice_record(const SliceRecord& record);

}  // namespace liqo::core
