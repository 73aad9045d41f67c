/// One demand for credentials from a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110 §11.6).
public struct Challenge: Sendable, Hashable {
  /// One parameter `name=value` of a challenge.
  public struct Parameter: Sendable, Hashable {
    /// The name as the server spells it; compare it case-insensitively.
    public let name: String
    /// The value without the quotes around it, and without the backslashes that escape characters between the quotes.
    public let value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The scheme as the server spells it; compare it case-insensitively.
  public let scheme: String
  /// The whole text after the scheme, as the server sent it.
  public let text: String
  /// The parameters in the order of the field. There are at most 64, no name occurs twice, and the list is empty if
  /// there is a ``token68``.
  public let parameters: [Parameter]
  /// The text that some schemes have in place of parameters, for instance in `Negotiate a87421000492aa87==`.
  public let token68: String?

  init(scheme: String, text: String, parameters: [Parameter], token68: String?) {
    self.scheme = scheme
    self.text = text
    self.parameters = parameters
    self.token68 = token68
  }

  /// The value of the parameter with this name, such as `realm` or `nonce`. Names are compared case-insensitively.
  public subscript(name: String) -> String? {
    parameters.first { FieldSyntax.equals($0.name.utf8.span, text: name.lowercased()) }?.value
  }

  /// Whether the challenge has this scheme. Schemes are compared case-insensitively.
  public func isScheme(_ scheme: String) -> Bool {
    FieldSyntax.equals(self.scheme.utf8.span, text: scheme.lowercased())
  }
}

extension Challenge {
  /// The maximum number of challenges in one response; an honest server does not send more.
  package static let maximumCount = 16
  /// A challenge with more parameters is malformed.
  static let maximumParameters = 64

  /// The challenges of a response in the order of its fields; at most ``maximumCount``.
  ///
  /// If any part of a field is malformed, all challenges of the field are left out, because readers may disagree about
  /// how many challenges such a field has.
  /// - Parameter name: `www-authenticate` or `proxy-authenticate`.
  package static func challenges(in headers: HeaderFields, _ name: String) -> [Challenge] {
    var challenges: [Challenge] = []
    var next = headers.firstIndex(named: name.utf8.span)
    while let index = next, challenges.count < maximumCount {
      challenges += list(Array(headers.buffer[headers.valueRange(at: index)])) ?? []
      next = headers.firstIndex(named: name.utf8.span, from: index + 1)
    }
    return Array(challenges.prefix(maximumCount))
  }

  /// The challenges of one field value; nil if it is malformed.
  package static func list(_ value: [UInt8]) -> [Challenge]? {
    var reader = ChallengeReader(value)
    return reader.list()
  }

  /// The parameters of a field that has only parameters, such as `Authentication-Info` (RFC 7615 §3); nil if it is
  /// malformed.
  package static func parameters(of value: String) -> [Parameter]? {
    var reader = ChallengeReader(Array("x ".utf8) + Array(value.utf8))
    return reader.list().flatMap { $0.count == 1 ? $0.first?.parameters : nil }
  }
}
