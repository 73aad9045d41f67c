package import SluiceMessages

/// A response without its body, and when it was asked for and came: what all decisions of a cache are made from.
package struct StoredHead: Sendable, Equatable {
  package var status: Int
  package var headers: HeaderFields
  /// When the request went out that was answered, or validated, last.
  package var requested: Timestamp
  /// When that answer came.
  package var received: Timestamp

  package init(status: Int, headers: HeaderFields, requested: Timestamp, received: Timestamp) {
    self.status = status
    self.headers = headers
    self.requested = requested
    self.received = received
  }

  package var control: CacheControl { CacheControl(headers[values: "cache-control"]) }

  /// When the origin made it, or where it does not say so, when it came.
  package var date: HTTPDate { headers.date("date", now: received) ?? received.date }

  /// The entity tag, as sent; nil where it is not one.
  package var entityTag: EntityTag? { headers["etag"].flatMap { EntityTag($0) } }

  package var lastModified: HTTPDate? { headers.date("last-modified", now: received) }

  /// Whether the origin can be asked if this is still it.
  package var hasValidator: Bool { entityTag != nil || lastModified != nil }
}

extension HeaderFields {
  /// The only field of that name as a date; nil without such a field, with several, or if it is not a date.
  func date(_ name: String, now: Timestamp) -> HTTPDate? {
    let values = self[values: name]
    guard values.count == 1, let value = values.first else { return nil }
    return HTTPDate(value, now: now.date)
  }
}
