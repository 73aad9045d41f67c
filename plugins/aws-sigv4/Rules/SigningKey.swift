package import SluiceMessages

/// The credentials of a signer.
package struct SigningKey: Sendable {
  /// Goes into the signed request.
  package let id: [UInt8]
  private let secret: [UInt8]
  /// Goes into the signed request, if the key is temporary.
  package let sessionToken: String?

  package init(id: [UInt8], secret: [UInt8], sessionToken: String? = nil) {
    (self.id, self.secret, self.sessionToken) = (id, secret, sessionToken)
  }

  /// The key for one day, region and service. The secret itself signs nothing.
  ///
  /// - Parameter scope: the day, the region, the service and `aws4_request`.
  package func derived(
    _ scope: [String], algorithm: String = "AWS4", _ hash: HashFunction
  ) throws(StageFailure) -> [UInt8] {
    var key = Array(algorithm.utf8) + secret
    for part in scope { key = try Hash.code(of: part, key: key, hash) }
    return key
  }
}
