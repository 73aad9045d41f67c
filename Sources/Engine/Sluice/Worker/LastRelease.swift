/// Runs its body when the last reference to it is released. This also happens if the last reference was in a job that
/// was posted to a loop and never ran.
final class LastRelease: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}
