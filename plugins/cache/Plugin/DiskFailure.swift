import Glibc

/// A failure with the folder, for the log of the host, or the reason why the plugin does not start.
struct DiskFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// The message contains the system's text for `number`.
  init(_ verb: String, _ path: String, _ number: CInt = errno) {
    description = "cannot \(verb) \(path): \(String(cString: strerror(number)))"
  }
}
