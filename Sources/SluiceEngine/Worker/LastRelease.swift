/// Runs its body when the last reference to it is released. The last reference can be a job that was posted to a loop
/// and never ran.
final class LastRelease: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}
