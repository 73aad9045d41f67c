public import SluiceMessages

/// A response without its body, and when it was asked for and came: what all decisions of a cache are made from.
public struct StoredHead: Sendable, Equatable {
  public var status: Int
  public var headers: HeaderFields
  /// When the request went out that was answered, or validated, last.
  public var requested: Timestamp
  /// When that answer came.
  public var received: Timestamp

  public init(status: Int, headers: HeaderFields, requested: Timestamp, received: Timestamp) {
    self.status = status
    self.headers = headers
    self.requested = requested
    self.received = received
  }

  public var control: CacheControl { CacheControl(headers[values: "cache-control"]) }

  /// When the origin made it, or where it does not say so, when it came.
  public var date: HTTPDate { headers.date("date", now: received) ?? received.date }

  /// The entity tag, as sent; nil where it is not one.
  public var entityTag: EntityTag? { headers["etag"].flatMap { EntityTag($0) } }

  public var lastModified: HTTPDate? { headers.date("last-modified", now: received) }

  /// Whether the origin can be asked if this is still it.
  public var hasValidator: Bool { entityTag != nil || lastModified != nil }
}

extension HeaderFields {
  /// The only field of that name as a date; nil without such a field, with several, or if it is not a date.
  func date(_ name: String, now: Timestamp) -> HTTPDate? {
    let values = self[values: name]
    guard values.count == 1, let value = values.first else { return nil }
    return HTTPDate(value, now: now.date)
  }
}
