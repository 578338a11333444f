// Whether a TCP connection whose packets are sent again and again is cut off, or only stuck. Pure.
#pragma once

#include "kube/base/time.hpp"

namespace kube::net {

/// What the system tells of a connection (tcp_info, see tcp(7)).
struct TcpSilence {
  unsigned retransmits = 0;           ///< since the peer last acknowledged anything new
  Duration last_sent{};               ///< since a packet with data was sent, for the first time or again
  Duration last_acknowledged{};       ///< since any acknowledgement came
  Duration retransmission_timeout{};  ///< after which the next one is sent; it doubles each time

  /// Nobody has answered for 12 s at least (six retransmissions) nor the last two of them. A peer that is alive and has
  /// no memory for more answers each, at once: its windows and probes of them are no retransmissions, but what it had
  /// announced room for and throws away is.
  bool is_cut_off() const {
    return retransmits >= 6 && last_acknowledged - last_sent >= retransmission_timeout * 2 / 3;
  }
};

}  // namespace kube::net
