import Glibc

/// Where temporary files go.
package enum TemporaryFiles {
  /// The folder in `TMPDIR`; `/tmp` if that is not set or empty. A relative name is made absolute (``SystemPath``).
  package static var folder: String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    return folder.isEmpty ? "/tmp" : SystemPath.absolute(folder)
  }

  /// A part of a file name that no other process can predict.
  package static var randomName: String { String(UInt64.random(in: 0 ... .max), radix: 36) }
}
