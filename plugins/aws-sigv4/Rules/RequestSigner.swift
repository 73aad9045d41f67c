package import SluiceMessages

/// Version 4 of AWS signatures: "Create a signed AWS API request".
///
///     method, path, query, fields, hash of the body ─► canonical request ─► hash ─┐
///     secret ─► day ─► region ─► service ─► key                                   ├─► signature
///                                time, scope ──────────────► string to sign ◄─────┘
package struct RequestSigner: Sendable {
  /// The names as they are written in the algorithm and in headers: `aws` and `amz`, unless a provider other than AWS
  /// uses this signature.
  package struct Provider: Sendable {
    let algorithm: String
    let header: String

    package init(algorithm: String = "aws", header: String = "amz") {
      (self.algorithm, self.header) = (algorithm.lowercased(), header.lowercased())
    }
  }

  /// A field to set in the request that is signed.
  package struct Field: Sendable {
    package let name: String
    package let value: [UInt8]
    package let isSecret: Bool
  }

  /// Takes the place of the hash if the body is not signed.
  package static let unsignedPayload = "UNSIGNED-PAYLOAD"

  private let provider: Provider
  private let region: String
  private let service: String
  private let key: SigningKey
  private let hash: HashFunction

  package init(
    _ key: SigningKey, region: String, service: String, provider: Provider = Provider(), hash: @escaping HashFunction
  ) {
    (self.key, self.region, self.service, self.provider, self.hash) = (key, region, service, provider, hash)
  }

  /// The name of the field with the time.
  package var dateName: String { "x-\(provider.header)-date" }
  /// The name of the field with the hash of the body.
  package var bodyHashName: String { "x-\(provider.header)-content-sha256" }
  private var tokenName: String { "x-\(provider.header)-security-token" }
  private var algorithm: String { "\(provider.algorithm.uppercased())4-HMAC-SHA256" }

  package var isS3: Bool { service == "s3" }

  /// Whether a field is signed: the content type, and the provider's fields. Fields that the transport or a proxy can add
  /// or change are not signed.
  private func signs(_ name: String) -> Bool { name == "content-type" || name.hasPrefix("x-\(provider.header)-") }

  /// Returns the fields that make the request signed. Fields of the request with the same names must be replaced.
  ///
  /// - Parameters:
  ///   - method: the method of the hop.
  ///   - url: the URL of the hop.
  ///   - headers: the lines of the request. If there is no `Host`, the one of the URL is signed.
  ///   - bodyHash: the hash of the body in hexadecimal, or ``unsignedPayload``.
  ///   - date: as ``SigningTime/text(_:)`` returns it.
  package func fields(
    method: String, url: HTTPURL, headers: HeaderFields, bodyHash: String, date: String
  ) throws(StageFailure) -> [Field] {
    var own = [(name: dateName, value: date)]
    if isS3 || bodyHash == Self.unsignedPayload { own.append((bodyHashName, bodyHash)) }
    if let token = key.sessionToken { own.append((tokenName, token)) }
    var signed = SignedFields()
    if !headers.contains("host") { signed.append("host", Array(url.hostField.utf8)) }
    for field in own { signed.append(field.name, Array(field.value.utf8)) }
    for index in headers.indices {
      let name = headers.name(at: index).lowercased()
      guard name == "host" || signs(name), !own.contains(where: { $0.name == name }) else { continue }
      signed.append(name, headers.buffer[headers.valueRange(at: index)])
    }
    let canonical = CanonicalRequest(
      method: method, path: CanonicalURL.path(url.path, isS3: isS3), query: CanonicalURL.query(url.query),
      fields: signed, bodyHash: bodyHash)
    let authorization = try authorization(canonical, date)
    return own.map { Field(name: $0.name, value: Array($0.value.utf8), isSecret: $0.name == tokenName) }
      + [Field(name: "authorization", value: authorization, isSecret: true)]
  }

  /// The value of `Authorization`.
  package func authorization(_ request: CanonicalRequest, _ date: String) throws(StageFailure) -> [UInt8] {
    let scope = [String(date.prefix(8)), region, service, "\(provider.algorithm)4_request"]
    let path = scope.joined(separator: "/")
    let text = [algorithm, date, path, try Hash.hexadecimal(of: request.bytes, hash)].joined(separator: "\n")
    let key = try key.derived(scope, algorithm: "\(provider.algorithm.uppercased())4", hash)
    let signature = try Hash.code(of: text, key: key, hash).hexadecimal
    let rest = "/\(path), SignedHeaders=\(request.signedNames), Signature=\(signature)"
    return Array("\(algorithm) Credential=".utf8) + self.key.id + rest.utf8
  }
}
