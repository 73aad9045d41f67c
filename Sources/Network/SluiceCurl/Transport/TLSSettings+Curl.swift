import CCurl
import SluiceMessages
import SluicePipeline

extension TLSSettings {
  /// For `CURLOPT_SSLVERSION`.
  var curlVersions: Int {
    let least = versions.lowerBound == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2
    let most = versions.upperBound == .tls13 ? CURL_SSLVERSION_MAX_TLSv1_3 : CURL_SSLVERSION_MAX_TLSv1_2
    return Int(least | most)
  }

  /// For `CURLOPT_PINNEDPUBLICKEY`.
  var curlKeyHashes: String {
    keyHashes.map { "sha256//\(String(decoding: Base64.encode($0), as: UTF8.self))" }.joined(separator: ";")
  }
}
