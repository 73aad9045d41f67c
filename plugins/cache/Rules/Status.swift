/// What a status means for a cache.
package enum Status {
  /// Statuses whose responses may be stored with a guessed lifetime (RFC 9110 §15.1). This cache does not store a 206.
  package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }

  /// Statuses whose meaning this cache knows, as `must-understand` requires (RFC 9111 §5.2.2.3).
  static func isUnderstood(_ status: Int) -> Bool {
    switch status {
    case 200, 203, 204, 300, 301, 302, 303, 307, 308, 400...405, 408...410, 414, 421, 451, 500...504: true
    default: false
    }
  }

  /// The statuses that `stale-if-error` treats as an error (RFC 5861 §4).
  package static func isServerError(_ status: Int) -> Bool {
    switch status {
    case 500, 502, 503, 504: true
    default: false
    }
  }
}
