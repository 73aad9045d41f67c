/// The transforms of the bodies that pass through an instance in one transaction.
///
/// `@unchecked Sendable`: used only on the loop of the transaction, which calls one method at a time.
final class BodyTransforms: @unchecked Sendable {
  private struct Entry {
    let attempt: UInt32
    let hop: UInt32
    let transform: UncheckedTransform?
  }

  private var request: Entry?
  private var response: Entry?

  /// The transform of the current body, created if the body is new; nil for a body that passes unchanged.
  func transform(
    of side: MessageSide, attempt: UInt32, hop: UInt32, _ make: () throws -> (any BodyTransform)?
  ) throws -> UncheckedTransform? {
    let known = side == .request ? request : response
    if let known, known.attempt == attempt, known.hop == hop { return known.transform }
    let entry = Entry(attempt: attempt, hop: hop, transform: try make().map { UncheckedTransform($0) })
    if side == .request { request = entry } else { response = entry }
    return entry.transform
  }
}

/// Carries a transform into a task on its own loop. `@unchecked Sendable` for the same reason as ``BodyTransforms``.
final class UncheckedTransform: @unchecked Sendable {
  let transform: any BodyTransform
  init(_ transform: any BodyTransform) { self.transform = transform }
}
