internal import CSluice
import Glibc
import SluiceMessages

/// Reads a table from a plugin. The table begins with its own size.
struct TableReader {
  let subject: PluginError.Subject
  /// The table's name, for messages.
  let name: String

  /// Returns a copy of the table. If the plugin's table is shorter than the host's, the members that it lacks are zero,
  /// which means absent.
  /// - Parameter least: the table's size in revision 1.
  func read<Table>(_ pointer: UnsafeRawPointer, zero: Table, least: UInt32) throws(PluginError) -> Table {
    guard UInt(bitPattern: pointer) % UInt(MemoryLayout<Table>.alignment) == 0 else {
      throw error("lies at a misaligned address")
    }
    let size = pointer.load(as: UInt32.self)
    guard size >= least else {
      throw error("says that it is \(size) bytes long, at least \(least) are needed")
    }
    var table = zero
    withUnsafeMutableBytes(of: &table) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), bytes.count)))
    }
    return table
  }

  /// A string of the table. It must exist, be valid UTF-8, and not be longer than `limitBytes`.
  func text(_ pointer: UnsafePointer<CChar>?, _ member: String, limitBytes: Int) throws(PluginError) -> String {
    guard let pointer else { throw error("has no \(member)") }
    let length = strnlen(pointer, limitBytes + 1)
    guard length <= limitBytes else { throw error("has a \(member) of more than \(limitBytes) bytes") }
    let bytes = UnsafeBufferPointer(start: pointer, count: length).map { UInt8(bitPattern: $0) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw error("has a \(member) that is not UTF-8")
    }
    return text
  }

  /// A string for people and logs. It must be one line, and not empty.
  func line(_ pointer: UnsafePointer<CChar>?, _ member: String, limitBytes: Int) throws(PluginError) -> String {
    let text = try text(pointer, member, limitBytes: limitBytes)
    guard !text.isEmpty else { throw error("has an empty \(member)") }
    guard !text.unicodeScalars.contains(where: PlainText.acts) else {
      throw error("has a \(member) with control characters")
    }
    return text
  }

  func error(_ reason: String) -> PluginError {
    PluginError(.invalidTable, subject, "its table \(name) \(reason)", advice: "see the header that defines it")
  }
}
