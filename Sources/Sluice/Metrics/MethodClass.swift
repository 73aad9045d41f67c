/// The method of a request as it is counted, `http.request.method` of OpenTelemetry: what is not well known is one class,
/// so that no caller can make the counts grow.
public enum MethodClass: Int, Sendable, Hashable, CaseIterable {
  case get, head, post, put, delete, patch, options, other

  /// Methods are compared with case (RFC 9110 §9.1).
  public init(method: String) {
    switch method {
    case "GET": self = .get
    case "POST": self = .post
    case "PUT": self = .put
    case "HEAD": self = .head
    case "DELETE": self = .delete
    case "PATCH": self = .patch
    case "OPTIONS": self = .options
    default: self = .other
    }
  }

  /// The method itself, or `_OTHER`.
  public var text: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .delete: "DELETE"
    case .patch: "PATCH"
    case .options: "OPTIONS"
    case .other: "_OTHER"
    }
  }
}
