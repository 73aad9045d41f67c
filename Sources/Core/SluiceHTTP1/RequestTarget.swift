import SluiceMessages

/// The target of a request (RFC 9112 §3.2).
package enum RequestTarget {
  package enum Form: Sendable, Hashable {
    /// `/path?query`
    case origin
    /// `http://example.com/path?query`. Its host counts, and not that of `Host` (RFC 9112 §3.2.2).
    case absolute
    /// `example.com:443`, of a CONNECT
    case authority
    /// `*`, of an OPTIONS to the server as a whole
    case asterisk
  }

  /// Checks the target of a request, and returns its form.
  ///
  /// A server behind this one must read it in the same way, so everything that could be understood differently is
  /// refused.
  package static func check(_ target: Span<UInt8>, method: Span<UInt8>) throws(RequestViolation) -> Form {
    for index in target.indices where !isAllowed(target[index]) {
      throw RequestViolation(400, "the byte \(target[index]) in the request target \(PlainText.quote(target))")
    }
    let form = form(of: target, method)
    guard let fault = fault(of: target, form) else { return form }
    throw RequestViolation(400, "the request target \(HTTPURL.shownReference(target)) \(fault)")
  }

  private static func form(of target: Span<UInt8>, _ method: Span<UInt8>) -> Form {
    // Some servers ignore the case of methods.
    if FieldSyntax.equals(method, "connect") { return .authority }
    if target.count > 0, target[0] == UInt8(ascii: "/") { return .origin }
    let isAsterisk = target.count == 1 && target[0] == UInt8(ascii: "*")
    return isAsterisk && method.isIdenticalInContent(to: "OPTIONS".utf8.span) ? .asterisk : .absolute
  }

  /// What is wrong with a target of allowed bytes; nil if nothing is.
  private static func fault(of target: Span<UInt8>, _ form: Form) -> String? {
    switch form {
    case .asterisk: return nil
    case .authority:
      guard target.indices.contains(where: { target[$0] == UInt8(ascii: ":") }) else { return "has no port" }
      return (try? HeaderFields.checkHost(target)) == nil ? "is not a host and a port" : nil
    case .origin:
      let end = target.indices.first { target[$0] == UInt8(ascii: "?") } ?? target.count
      return isAmbiguous(target.extracting(0..<end)) ? ambiguity : nil
    case .absolute:
      guard let url = try? HTTPURL(String(copying: target)) else {
        return "is neither a path nor a URL of http or https"
      }
      if url.userInfo != nil { return "has a user or a password (RFC 9110 §4.2.4)" }
      return url.withPath { isAmbiguous($0) } ? ambiguity : nil
    }
  }

  private static let ambiguity = "leads to different places, depending on how a server reads its dot segments"

  private static func isAmbiguous(_ path: Span<UInt8>) -> Bool {
    guard !PathReadings.isPlain(path) else { return false }
    let readings = PathReadings(path)
    return readings.hasDotSegments && readings.lenient != nil
  }

  /// Visible ASCII, without a fragment, which is never sent, and without a backslash, which some servers read as a slash.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") && byte != UInt8(ascii: "\\")
  }
}
