// Whether a TCP connection whose packets are sent again and again is cut off, or only stuck. Pure.
#pragma once

#include "kube/base/time.hpp"

namespace kube::net {

/// What the system knows of a connection (tcp_info, see tcp(7)).
struct TcpSilence {
  unsigned retransmits = 0;           ///< since the peer last acknowledged anything new
  Duration last_sent{};               ///< since a packet with data was sent, for the first time or again
  Duration last_acknowledged{};       ///< since any acknowledgement came
  Duration retransmission_timeout{};  ///< after which the next one is sent; it doubles each time

  /// Whether the peer has acknowledged nothing new for six retransmissions (12 s at least), and has not answered the
  /// last two of them at all. A peer that is alive but has no memory for more answers each one at once: what is sent
  /// again is data that it had announced room for and throws away. Windows, and probes of them, do not count as
  /// retransmissions.
  bool is_cut_off() const {
    return retransmits >= 6 && last_acknowledged - last_sent >= retransmission_timeout * 2 / 3;
  }
};

}  // namespace kube::net
