import Glibc
import Synchronization

/// What a process shares with its plugins, and restores when a plugin has changed it: descriptors 0 to 2 are open, so
/// that no socket and no file gets their numbers, and the current folder is that of the start (``SystemPath``).
///
/// Only the command keeps this state. A program that uses the engine has its own: there, nothing is changed.
package enum SharedState {
  private struct Keeper: Sendable {
    let fillStreams: @Sendable () -> UInt32
    let report: @Sendable (String) -> Void
  }

  private static let keeper = Locked<Keeper?>(nil)
  private static let isKept = Atomic<Bool>(false)
  private static let streams = ["standard input", "standard output", "standard error"]

  /// Must be called once, when ``SystemPath`` knows the start.
  /// - Parameters:
  ///   - fillStreams: opens those of descriptors 0 to 2 that are closed, and returns their numbers as bits.
  ///   - report: takes a warning about a plugin.
  package static func keep(
    fillStreams: @escaping @Sendable () -> UInt32, report: @escaping @Sendable (String) -> Void
  ) {
    keeper.withLock { $0 = Keeper(fillStreams: fillStreams, report: report) }
    isKept.store(true, ordering: .releasing)
  }

  /// Restores what a plugin has changed. It takes four system calls if nothing has changed.
  /// - Parameter who: the beginning of the warning: `stage "a" (plugin b): in create, it`. Nil if the change is reported
  ///   elsewhere.
  package static func restore(_ who: () -> String?) {
    guard isKept.load(ordering: .acquiring), let keeper = keeper.withLock({ $0 }) else { return }
    let (closed, folder) = (keeper.fillStreams(), SystemPath.returnToStart())
    guard closed != 0 || folder != nil, let who = who() else { return }
    for (number, name) in streams.enumerated() where closed & 1 << number != 0 {
      keeper.report(
        "\(who) closed descriptor \(number) (\(name)), which is open again now; a plugin must close only descriptors "
          + "that it has opened itself")
    }
    if let folder {
      keeper.report(
        "\(who) changed the current folder to \"\(folder)\"; the command has gone back to the folder in which it was "
          + "started, because all plugins share it")
    }
  }

  /// Gives a new descriptor another number if a plugin has closed one of the descriptors 0 to 2, so that the new one has
  /// got its number: plugins would print to it. The descriptor is closed on exec afterwards.
  package static func keepingStreams(_ descriptor: CInt) -> CInt {
    guard (0...STDERR_FILENO).contains(descriptor), isKept.load(ordering: .acquiring) else { return descriptor }
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    guard moved >= 0 else { return descriptor }
    close(descriptor)
    restore { "a plugin, or a thread of a plugin," }
    return moved
  }
}
