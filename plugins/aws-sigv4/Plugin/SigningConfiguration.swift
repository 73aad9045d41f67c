import AWSSignatureRules
import AWSSignatureStage
import SluicePlugin

/// The `config` of the plugin.
struct SigningConfiguration: Decodable, Sendable {
  enum Payload: String, Decodable, Sendable {
    case signed
    /// The hash is `UNSIGNED-PAYLOAD`.
    case unsigned
  }

  var accessKeyID: String
  var secretAccessKey: String
  /// For temporary credentials.
  var sessionToken: String?
  var region: String
  var service: String
  var hosts: [String]
  var payload: Payload

  static let defaults: JSONValue = ["payload": "signed"]

  static let schema = """
    {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
     "required": ["accessKeyID", "secretAccessKey", "region", "service", "hosts"],
     "properties": {
      "accessKeyID": {"type": "string", "minLength": 1},
      "secretAccessKey": {"type": "string", "minLength": 1},
      "sessionToken": {"type": "string", "minLength": 1},
      "region": {"type": "string", "minLength": 1},
      "service": {"type": "string", "minLength": 1},
      "hosts": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
      "payload": {"enum": ["signed", "unsigned"]}}}
    """

  func signer() throws(StageFailure) -> RequestSigner {
    // These would break the scope, in which a slash and a comma have a meaning.
    for (value, key) in [(accessKeyID, "accessKeyID"), (region, "region"), (service, "service")] {
      guard isVisible(value), !value.utf8.contains(UInt8(ascii: "/")), !value.utf8.contains(UInt8(ascii: ",")) else {
        throw StageFailure(message: "config key \"\(key)\": expected visible ASCII without spaces, commas and slashes")
      }
    }
    for case (let value?, let key) in [(secretAccessKey, "secretAccessKey"), (sessionToken, "sessionToken")]
      as [(String?, String)]
    where !isVisible(value) {
      throw StageFailure(
        message: "config key \"\(key)\": expected visible ASCII; the value contains a line break or another character")
    }
    let key = SigningKey(
      id: Array(accessKeyID.utf8), secret: Array(secretAccessKey.utf8), sessionToken: sessionToken)
    return RequestSigner(key, region: region, service: service, hash: ContentDigest.hash)
  }

  private func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }
}
