/// Converts the host of an internationalized URL (RFC 3987) into A-labels such as `xn--bcher-kva.example` (RFC 5890
/// §2.3.2.1).
///
/// The tables that this takes belong to a C library, and what parses URLs has no C. So whoever parses a URL passes an
/// encoder along, or none: then a host beyond ASCII is an error.
public struct HostEncoder: Sendable {
  /// Why a host has no A-labels.
  package struct Failure: Error, Sendable, Hashable {
    /// Follows the host in a sentence: `has a label of more than 63 bytes`.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
  }

  /// The longest host that is handed on. One that shrinks to the 253 bytes of a name has far fewer.
  static let maximumBytes = 1024

  private let convert: @Sendable (String) throws(Failure) -> String

  /// - Parameter convert: is given a host with at least one character beyond ASCII, without a port. What it returns is
  ///   checked like any other host.
  package init(_ convert: @escaping @Sendable (_ host: String) throws(Failure) -> String) { self.convert = convert }

  /// The host as A-labels, for a URL. The result has only characters of a host, so that it cannot add a port or a path.
  func labels(of host: String) throws(Failure) -> String {
    guard host.utf8.count <= Self.maximumBytes else {
      throw Failure("has \(host.utf8.count) bytes; at most \(Self.maximumBytes) are converted")
    }
    guard host.utf8.allSatisfy({ $0 >= 0x80 || HTTPURL.isHostCharacter($0) }) else {
      throw Failure("has an ASCII character that is no letter, digit, dot, hyphen or underscore")
    }
    let labels = try convert(host)
    // A full-width solidus, for instance, is mapped to a slash.
    guard labels.utf8.allSatisfy(HTTPURL.isHostCharacter) else {
      throw Failure("stands for \"\(PlainText.line(labels, limitBytes: 128))\", which is no host")
    }
    return labels
  }
}
