import SluicePluginHost
import SluiceSupport
import Synchronization
import Testing

struct ControlThreadTests {
  /// Sets its flag when it is released.
  private final class Held: Sendable {
    private let flag: Flag

    init(_ flag: Flag) { self.flag = flag }

    deinit { flag.isReleased.store(true, ordering: .releasing) }
  }

  private final class Flag: Sendable {
    let isReleased = Atomic(false)
  }

  /// A copy of a library in the store is removed when the last reference to it ends. So a refused swap may only be
  /// reported when no thread holds the copy any longer.
  @Test(arguments: [false, true]) func `what a body holds is released before its result is given`(hasLimit: Bool) async
  {
    for _ in 0..<500 {
      let flag = Flag()
      await run(Held(flag), hasLimit: hasLimit)
      guard flag.isReleased.load(ordering: .acquiring) else {
        Issue.record("the thread still holds the body")
        return
      }
    }
  }

  private func run(_ held: consuming Held, hasLimit: Bool) async {
    let body: @Sendable () -> Void = { [held] in withExtendedLifetime(held) {} }
    guard hasLimit else { return await ControlThread.run(body) }
    await ControlThread.run(within: .seconds(60), body, late: { _ in })
  }
}
