import CSluice

/// An informational (1xx) response (RFC 9110 §15.2). It is a copy, which a stage can keep after the call.
public struct InformationalResponse: Sendable, Hashable {
  /// One header line of the response. Repeated names are separate fields.
  public struct Field: Sendable, Hashable {
    /// The name of the field; compare it case-insensitively (RFC 9110 §5.1).
    public let name: String
    /// The value as text; bytes that are not UTF-8 become U+FFFD.
    public let value: String
  }

  /// The status, from 100 to 199, for instance 103 (RFC 8297).
  public let status: Int
  /// The fields in wire order.
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
