import CLinux
import SluiceSupport

/// Finds calls that change what plugins share with the process: the current folder, the umask, the locale, the signal
/// mask, and the rounding and flush modes. It costs several system calls for each call of a plugin, so it runs only where
/// plugins are tried out: in trials, in `sluice plugin validate` and in `sluice dev`.
package enum ProcessWatch {
  /// A change that was found.
  package struct Change: Sendable, Hashable {
    /// The call that made the change; nil if it was made while no call was compared, for example by a thread of a
    /// plugin.
    package let call: ThreadCall?
    /// The end of a sentence: `changed the umask from 0022 to 0000`.
    package let what: String

    /// The change as a sentence about a plugin.
    package var sentence: String {
      call.map { "in \($0.callback), it \(what)" } ?? "outside of its calls, a thread of a plugin \(what)"
    }
  }

  /// What to do instead.
  package static let advice = "the program and all plugins share it; restore it before the call returns"

  private static let listener = Locked<(@Sendable (Change) -> Void)?>(nil)

  /// Begins to compare. Must be called once, before any plugin is loaded.
  /// - Parameter handler: called on the thread of the call.
  package static func begin(_ handler: @escaping @Sendable (Change) -> Void) {
    listener.withLock { $0 = handler }
    sluice_watch_process { subject, callback, what in
      let call = subject.map { ThreadCall($0.pointee, callback) }
      ProcessWatch.listener.withLock { $0 }?(Change(call: call, what: String(cString: what)))
    }
  }

  private static let loss = Locked<(@Sendable () -> Never)?>(nil)

  /// Begins to check that calls close none of these descriptors. Must be called once, before any plugin is loaded, in a
  /// process that itself keeps these descriptors open.
  /// - Parameter handler: called on the thread of the call.
  package static func guardDescriptors(_ numbers: [Int32], _ handler: @escaping @Sendable () -> Never) {
    loss.withLock { $0 = handler }
    sluice_guard_descriptors(numbers, UInt32(clamping: numbers.count)) { ProcessWatch.loss.withLock { $0 }?() }
  }
}
