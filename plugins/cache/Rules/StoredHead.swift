package import SluiceMessages

/// A response without its body, and the times of its request and its reception. The cache bases all its decisions on
/// these facts.
package struct StoredHead: Sendable, Equatable {
  package var status: Int
  package var headers: HeaderFields
  /// The time at which the last request that fetched or validated the response was sent.
  package var requested: Timestamp
  /// The time at which the answer to that request was received.
  package var received: Timestamp

  package init(status: Int, headers: HeaderFields, requested: Timestamp, received: Timestamp) {
    self.status = status
    self.headers = headers
    self.requested = requested
    self.received = received
  }

  package var control: CacheControl { CacheControl(headers[values: "cache-control"]) }

  /// The time at which the origin made the response. If the response does not say that, the time at which it was
  /// received.
  package var date: HTTPDate { headers.date("date", now: received) ?? received.date }

  /// The entity tag, as sent; nil if it is missing or invalid.
  package var entityTag: EntityTag? { headers["etag"].flatMap { EntityTag($0) } }

  package var lastModified: HTTPDate? { headers.date("last-modified", now: received) }

  /// Whether the origin can be asked whether this response is still valid.
  package var hasValidator: Bool { entityTag != nil || lastModified != nil }
}

extension HeaderFields {
  /// The value of that field as a date. Nil if the field is missing, occurs more than once, or is not a date.
  func date(_ name: String, now: Timestamp) -> HTTPDate? {
    let values = self[values: name]
    guard values.count == 1, let value = values.first else { return nil }
    return HTTPDate(value, now: now.date)
  }
}
