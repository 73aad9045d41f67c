import Dispatch
import SluiceSupport

/// An action that runs at most once: when its time has passed, or earlier if `fire` is called.
///
/// It runs on a queue with its own thread, so that tests which block the shared pool cannot delay it.
final class Deadline: Sendable {
  private enum State {
    case idle
    case armed(@Sendable () -> Void)
    case spent
  }

  private static let queue = DispatchQueue(label: "sluice.testkit.deadlines")
  private let state = Locked(State.idle)

  /// Starts the deadline; runs the action at once if `fire` was called before.
  func start(after limit: Duration, _ action: @escaping @Sendable () -> Void) {
    let isArmed = state.withLock { state in
      guard case .idle = state else { return false }
      state = .armed(action)
      return true
    }
    guard isArmed else { return action() }
    Self.queue.asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in self?.fire() }
  }

  func fire() {
    let action = state.withLock { state in
      defer { state = .spent }
      if case .armed(let action) = state { return action as (@Sendable () -> Void)? }
      return nil
    }
    action?()
  }

  func cancel() {
    state.withLock { $0 = .spent }
  }
}

extension Duration {
  var dispatchInterval: DispatchTimeInterval {
    .nanoseconds(Int(components.seconds) * 1_000_000_000 + Int(components.attoseconds / 1_000_000_000))
  }
}
