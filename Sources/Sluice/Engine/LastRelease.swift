/// Runs its body when the last of those that hold it lets go: also one that was posted to a loop and never run.
final class LastRelease: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}
