import Foundation
import FoundationNetworking
import SluiceMessages

extension HTTPURLResponse {
  /// - Parameter url: the URL of the last hop.
  static func of(_ response: Response, _ url: URL) throws(URLError) -> HTTPURLResponse {
    var fields: [String: String] = [:]
    // Upper and lower case of field names are not distinguished. If a name occurs several times, the first spelling is
    // kept.
    var spellings: [String: String] = [:]
    for (name, value) in response.headers {
      let key = name.lowercased()
      let spelling = spellings[key] ?? name
      spellings[key] = spelling
      fields[spelling] = fields[spelling].map { "\($0), \(value)" } ?? value
    }
    let version = response.version == .http2 ? "HTTP/2" : "HTTP/1.1"
    guard
      let made = HTTPURLResponse(url: url, statusCode: response.status, httpVersion: version, headerFields: fields)
    else { throw URLError(.badServerResponse) }
    return made
  }
}
