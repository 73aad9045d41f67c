public import SluiceMessages

/// Why a hop got no whole response.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Behind one reference: every transfer has room for an error, and few have one.
  private var parts: SharedValue<Parts>

  private struct Parts: Sendable, Hashable {
    var code: ErrorCode
    var subject: String?
    var reason: String
    var isBeforeSending: Bool
  }

  /// - Parameters:
  ///   - message: what failed, why and what to do; without the URL.
  ///   - url: what the failed request was for. The message names only its origin: a transport does not know which parts
  ///     of a URL are secret.
  package init(_ code: ErrorCode, _ message: String, to url: HTTPURL? = nil, isBeforeSending: Bool = false) {
    parts = SharedValue(
      Parts(code: code, subject: url?.origin.description, reason: message, isBeforeSending: isBeforeSending))
  }

  /// The kind of failure.
  public var code: ErrorCode {
    get { parts.value.code }
    set { parts.value.code = newValue }
  }

  /// What failed, why and, where there is something, what to do; begins with what the request was for.
  public var message: String {
    let parts = parts.value
    return parts.subject.map { "\($0): \(parts.reason)" } ?? parts.reason
  }

  /// The same error with a whole URL in place of the origin; the caller has hidden what is secret in it.
  package func naming(_ url: String) -> TransportError {
    var error = self
    if error.parts.value.subject != nil { error.parts.value.subject = url }
    return error
  }

  /// Whether the server has done nothing with the request, so that sending it again repeats nothing: no byte of it can have
  /// arrived, or the server vouches that it processed none.
  public var isBeforeSending: Bool {
    get { parts.value.isBeforeSending }
    set { parts.value.isBeforeSending = newValue }
  }

  /// `connect: https://api.example.com: reason`: the code, what the request was for, and the reason.
  public var description: String { "\(code): \(message)" }
}
