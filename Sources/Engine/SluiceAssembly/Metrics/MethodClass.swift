/// The class of a request's method, `http.request.method` of OpenTelemetry: all less common methods form one class, so
/// that a caller cannot increase the number of series.
package enum MethodClass: Int, Sendable, Hashable, CaseIterable {
  case get, head, post, put, delete, patch, options, other

  /// Methods are case-sensitive (RFC 9110 §9.1).
  package init(method: String) {
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
  package var text: String {
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
