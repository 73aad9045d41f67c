import CCrypto
import SluiceMessages
import SluicePlugin

extension OAuthConfiguration {
  /// SHA-256, in hex, of all settings that decide which token an instance gets: instances with the same digest share
  /// their token. The digest reveals no secret.
  func digest() throws(StageFailure) -> String {
    var fields = [
      tokenEndpoint, grant.rawValue, clientID, clientSecret, clientAuthentication.rawValue, refreshToken, accessToken,
      scope,
    ]
    for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { fields += [name, value] }
    // Each field is preceded by its length, so that no two lists of fields have the same bytes.
    let bytes = fields.flatMap { field in Array("\(field?.utf8.count ?? -1) ".utf8) + Array((field ?? "").utf8) }
    var digest = [UInt8](repeating: 0, count: 32)
    var length = CUnsignedInt(digest.count)
    guard EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil) == 1, length == digest.count else {
      throw StageFailure(message: "libcrypto refuses SHA-256")
    }
    return digest.hexadecimal
  }
}
