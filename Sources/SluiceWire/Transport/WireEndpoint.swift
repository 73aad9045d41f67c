import SluiceSupport

/// Something of the transport that has a descriptor in the loop's epoll set. Confined to the loop.
class WireEndpoint {
  /// The descriptor is ready; `events` is epoll's mask. Spurious calls do no harm. [loop]
  func isReady(_ events: UInt32) {}
}
