import SluiceAssembly
import SluiceMessages
import SluiceSupport

/// Warns about fields that a caller sets but that are not sent, because the transport itself frames messages and
/// manages connections (RFC 9112 §6, RFC 9110 §7.6.1).
final class UnsentFields: Sendable {
  /// The number of requests with the field, by its name. Only a few names are possible, so the dictionary stays small.
  private let counts = Locked<[String: Int]>([:])

  /// A warning for the first, tenth, hundredth … request with a field; nil for all other requests, so that the log does
  /// not fill up. Can be called on any thread.
  func warning(about request: Request) -> LogLine? {
    guard Self.hasAny(request.headers) else { return nil }
    let names = Self.names(in: request.headers)
    let due = counts.withLock { counts in
      names.filter { name in
        let count = counts[name, default: 0] + 1
        counts[name] = count
        return Self.isPowerOfTen(count)
      }
    }
    guard !due.isEmpty else { return nil }
    let list = due.map { "\"\($0)\"" }.joined(separator: ", ")
    let (what, it) =
      due.count == 1 ? ("the header \(list) is not sent", "it") : ("the headers \(list) are not sent", "them")
    return LogLine(
      level: .warning,
      message:
        "\(PlainText.line(request.method, limitBytes: 64)) \(request.url.origin): \(what), because the transport frames "
        + "messages and manages connections itself; leave \(it) out")
  }

  @inline(__always)
  private static func hasAny(_ headers: borrowing HeaderFields) -> Bool {
    for index in headers.indices where isUnsent(headers, index) { return true }
    return false
  }

  /// The names of the unsent fields in lower case, without repetitions.
  private static func names(in headers: borrowing HeaderFields) -> [String] {
    var names: [String] = []
    for index in headers.indices where isUnsent(headers, index) {
      let name = headers.name(at: index).lowercased()
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  @inline(__always)
  private static func isUnsent(_ headers: borrowing HeaderFields, _ index: HeaderFields.Index) -> Bool {
    FieldSyntax.isTransportField(headers.buffer.span.extracting(headers.nameRange(at: index)))
      && !headers.asksForTrailers(at: index)
  }

  private static func isPowerOfTen(_ count: Int) -> Bool {
    var number = count
    while number % 10 == 0, number > 0 { number /= 10 }
    return number == 1
  }
}
