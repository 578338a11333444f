// What a move makes for as long as it lasts is removed: the pods that carry the data, and the claim of the copy.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include "volumes/moved_claim.hpp"

namespace liqoctl {

/// Returns once they are gone.
asio::awaitable<Result<void>> remove_carriers(MovedClaim& moved);
/// Returns once it is gone. With `with_data`, the data of its volume is deleted, too.
asio::awaitable<Result<void>> remove_copy_claim(MovedClaim& moved, bool with_data);
/// Takes away what a move has left that did not come to its switch; answers whether that was a claim.
asio::awaitable<Result<bool>> remove_leftovers(MovedClaim& moved);

}  // namespace liqoctl
