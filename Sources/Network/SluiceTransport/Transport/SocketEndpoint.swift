import SluiceSupport

/// An object of the transport that has a descriptor in the loop's epoll set. Only the loop uses it.
class SocketEndpoint {
  /// Called when the descriptor is ready; `events` is epoll's mask. A call when nothing has happened does no harm.
  func isReady(_ events: UInt32) {}
}
