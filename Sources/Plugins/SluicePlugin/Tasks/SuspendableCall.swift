import CSluice

/// A call whose method is `async`. Its ``CallTask`` runs the method.
///
/// `@unchecked Sendable` for the same reason as ``ExchangeCall``.
final class SuspendableCall: ExchangeCall, @unchecked Sendable {
  private let task: CallTask

  init(link: HostLink, task: CallTask) {
    self.task = task
    super.init(link: link)
  }

  /// The token with which the call is or will be suspended; nil if the call cannot be suspended, or is over. If the
  /// call ends without suspending, the host makes the token invalid. [inside the call]
  func tokenForCalls() -> sluice_token? { task.tokenForCalls(of: self) }
}
