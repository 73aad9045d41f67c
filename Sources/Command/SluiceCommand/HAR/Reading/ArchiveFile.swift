import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages

/// Reads the file of an HTTP Archive.
enum ArchiveFile {
  /// A larger file is refused.
  private static let limitBytes = 256 << 20

  /// The member `log`, which has a list of entries. Other members are not checked, because programs leave some out.
  static func log(_ path: String) throws(CommandError) -> ArchivePart {
    let text = try text(path)
    let parsed = text.withUnsafeBytes { bytes in
      let bytes = UnsafeRawBufferPointer(rebasing: bytes.withoutByteOrderMark)
      // U+0000 is allowed, because browsers write bodies that contain it.
      return Result { () throws(JSONError) in try JSONValue(parsing: bytes, options: .allowNUL) }
    }
    let document: JSONValue
    do throws(JSONError) { document = try parsed.get() } catch { throw failure(path, "not JSON: \(error)") }
    let log = ArchivePart(json: document["log"] ?? .null, path: "log")
    guard let entries = log["entries"], entries.json.isArray else {
      throw failure(
        path,
        "not an HTTP Archive: log.entries: expected an array, found \(log["entries"]?.json.kind.rawValue ?? "nothing")")
    }
    return log
  }

  private static func text(_ path: String) throws(CommandError) -> [UInt8] {
    do { return try FileText.read(path, limitBytes: limitBytes) } catch {
      throw failure(path, "cannot read it: \(error)")
    }
  }

  private static func failure(_ path: String, _ reason: String) -> CommandError {
    CommandError(.usage, "--from-har: \(PlainText.path(path)): \(reason)")
  }
}
