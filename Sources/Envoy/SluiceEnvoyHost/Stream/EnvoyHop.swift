import SluiceMessages

/// The attempts of Envoy to send a request: each is a hop of the transaction.
struct EnvoyHop {
  /// Whether an attempt has begun.
  private(set) var isIssued = false
  /// The fields of the attempt as Envoy had them, and as the issue stages have left them. All attempts of Envoy share one
  /// list of fields, so what an attempt has set must not stay for the next one.
  private var given = HeaderFields()
  private var issued = HeaderFields()

  mutating func begin(_ given: HeaderFields, _ issued: HeaderFields) {
    isIssued = true
    self.given = given
    self.issued = issued
  }

  /// Takes back what the issue stages have set for the attempt before.
  func takeBack(in stream: EnvoyStream) {
    if isIssued { stream.apply(from: issued, to: given, in: BodySide.request.part) }
  }
}
