/// What a status means to a cache.
package enum Status {
  /// Statuses whose responses may be kept for a guessed time (RFC 9110 §15.1); of a 206 nothing is kept here.
  package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Statuses whose meaning for a cache is known, which `must-understand` asks for (RFC 9111 §5.2.2.3).
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 302, 303, 307, 308, 400...405, 408...410, 414, 421, 451, 500...504: true
    default: false
    }
  }

  /// What `stale-if-error` counts as an error (RFC 5861 §4).
  package static func isServerError(_ status: Int) -> Bool {
    switch status {
    case 500, 502, 503, 504: true
    default: false
    }
  }
}
