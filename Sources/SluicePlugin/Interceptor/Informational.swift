import CSluice

/// An informational (1xx) response (RFC 9110 §15.2). A value that can be kept.
public struct InformationalResponse: Sendable, Hashable {
  /// One header line of the response. Repeated names are separate fields.
  public struct Field: Sendable, Hashable {
    /// Case-insensitive (RFC 9110 §5.1).
    public let name: String
    /// Bytes that are not UTF-8 become U+FFFD.
    public let value: String
  }

  /// From 100 to 199, for instance 103 (RFC 8297).
  public let status: Int
  /// In wire order.
  public let fields: [Field]

  init(_ response: sluice_informational) {
    status = Int(response.status)
    fields = UnsafeBufferPointer(start: response.fields, count: response.field_count).map {
      Field(name: String($0.name), value: String($0.value))
    }
  }
}

/// Gets informational responses, before the final one. It cannot change the exchange.
public protocol InformationalInterceptor: Sendable {
  func interceptInformational(_ response: InformationalResponse, of request: StageRequest, context: RequestContext)
}
