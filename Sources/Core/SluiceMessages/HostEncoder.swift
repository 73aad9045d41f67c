/// Converts the host of an internationalized URL (RFC 3987) into A-labels such as `xn--bcher-kva.example` (RFC 5890
/// §2.3.2.1).
///
/// The conversion needs the tables of a C library, but this module, which parses URLs, uses no C library. So the caller
/// passes an encoder to the parser. Without an encoder, a non-ASCII host is an error.
public struct HostEncoder: Sendable {
  /// Why a host cannot be converted into A-labels.
  package struct Failure: Error, Sendable, Hashable {
    /// The end of a sentence whose subject is the host: `has a label of more than 63 bytes`.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
  }

  /// The longest host that is passed to the encoder. A host whose A-labels fit into the 253 bytes of a name is far
  /// shorter.
  static let maximumBytes = 1024

  private let convert: @Sendable (String) throws(Failure) -> String

  /// - Parameter convert: gets a host with at least one non-ASCII character, without a port. Its result is checked like
  ///   any other host.
  package init(_ convert: @escaping @Sendable (_ host: String) throws(Failure) -> String) { self.convert = convert }

  /// The host as A-labels, for a URL. The result has only characters that a host may have, so it cannot add a port or a
  /// path.
  func labels(of host: String) throws(Failure) -> String {
    guard host.utf8.count <= Self.maximumBytes else {
      throw Failure("has \(host.utf8.count) bytes; at most \(Self.maximumBytes) are converted")
    }
    guard host.utf8.allSatisfy({ $0 >= 0x80 || HTTPURL.isHostCharacter($0) }) else {
      throw Failure("has an ASCII character that is not a letter, digit, dot, hyphen or underscore")
    }
    let labels = try convert(host)
    // A full-width solidus, for instance, is mapped to a slash.
    guard labels.utf8.allSatisfy(HTTPURL.isHostCharacter) else {
      throw Failure("stands for \"\(PlainText.line(labels, limitBytes: 128))\", which is not a host")
    }
    return labels
  }
}
