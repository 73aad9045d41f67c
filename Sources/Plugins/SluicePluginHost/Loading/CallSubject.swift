package import CLinux
import Glibc
import SluiceMessages
import SluiceSupport

/// The names of the library and the plugin whose code a call runs, as each thread's record of its calls refers to them.
/// A subject is never freed, because the code is never unmapped.
///
/// `@unchecked Sendable`: the memory behind the pointer is never written after `init`.
package struct CallSubject: @unchecked Sendable {
  package let pointer: UnsafePointer<sluice_call_subject>

  /// - Parameters:
  ///   - library: nil for a part of the program.
  ///   - stage: the name in the configuration; empty if there is no instance yet.
  ///   - plugin: the plugin's id; empty if the plugin has not stated it yet.
  package init(_ library: LoadedCopy?, stage: String = "", plugin: String = "", generation: Int = 0) {
    let subject = UnsafeMutablePointer<sluice_call_subject>.allocate(capacity: 1)
    subject.initialize(
      to: sluice_call_subject(
        next: nil, stage: Self.immortal(stage), plugin: Self.immortal(plugin),
        library: Self.immortal(library?.path ?? ""),
        copy: Self.immortal(library?.copy ?? ""), hash: Self.immortal(library?.hash.hex ?? ""),
        generation: Int64(generation)))
    sluice_keep_call_subject(subject)
    pointer = UnsafePointer(subject)
  }

  /// Makes a copy of a text that is never freed. The copy is a single line, as the record requires.
  private static func immortal(_ text: String) -> UnsafePointer<CChar> {
    let line = text.utf8.filter { $0 != 0 }.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 } + [0]
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: line.count)
    for (index, byte) in line.enumerated() { (copy + index).initialize(to: CChar(bitPattern: byte)) }
    return UnsafePointer(copy)
  }

  /// Calls the plugin outside of any exchange.
  /// - Parameter transaction: the transaction that the call is about, if any.
  package func call<Result, Failure: Error>(
    _ callback: PluginCallback, transaction: (high: UInt64, low: UInt64) = (0, 0), attempt: UInt32 = 0,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if callback.isRare { restore(after: nil) }
    // Runs after the end of the call.
    defer { if callback.isRare { restore(after: callback) } }
    sluice_begin_call(
      sluice_next_call_number(), pointer, transaction.high, transaction.low, UInt32(callback.rawValue), attempt)
    defer { sluice_end_call() }
    return try body()
  }

  /// Restores what the command keeps (``SharedState``). Names the plugin of the call that has just ended; before a call,
  /// another plugin made the change.
  private func restore(after callback: PluginCallback?) {
    // Where calls are compared, the comparison has reported the change.
    guard sluice_is_process_watched() == 0 else { return sluice_renew_state { SharedState.restore { nil } } }
    SharedState.restore {
      guard let callback else { return "a plugin, or a thread of a plugin," }
      let call = ThreadCall(pointer.pointee, UInt32(callback.rawValue))
      return "\(call.subject): in \(call.callback), it"
    }
  }
}

/// A library that is being loaded: the facts that identify its code.
package struct LoadedCopy {
  /// The path as it was given.
  let path: String
  /// The private copy.
  let copy: String
  let hash: ContentHash
}

extension LoadedLibrary {
  package var copy: LoadedCopy { LoadedCopy(path: path, copy: stored.path, hash: stored.hash) }
}
