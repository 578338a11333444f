// Removes the temporary objects of a move: the pods that carry the data, and the claim of the copy.
// Tested by test/cluster/tried/test_applications.py.
#pragma once

#include "volumes/moved_claim.hpp"

namespace liqoctl {

/// Removes the pods that carry the data. Returns once they are gone.
asio::awaitable<Result<void>> remove_carriers(MovedClaim& moved);
/// Removes the claim of the copy, and with `with_data` the data of its volume. Returns once it is gone.
asio::awaitable<Result<void>> remove_copy_claim(MovedClaim& moved, bool with_data);
/// Removes the leftovers of a move that did not reach its switch. Returns whether there was a claim among them.
asio::awaitable<Result<bool>> remove_leftovers(MovedClaim& moved);

}  // namespace liqoctl
