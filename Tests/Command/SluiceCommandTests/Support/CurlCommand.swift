import SluiceServer
import SluiceTestKit

/// The curl of this machine, and a form of its requests that can be compared.
enum CurlCommand {
  /// The path of curl, or nil if it is not installed.
  static let path = ["/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"].first { FileTree.exists($0) }

  /// Returns a request as text, without what curl and `send` may choose: user agent, form boundary, and order of
  /// headers.
  ///
  /// - Parameter names: further headers that are left out, in lower case.
  static func comparable(_ request: ServerRequest, without names: Set<String> = []) -> String {
    let type = request.headers.first("content-type") ?? ""
    let given = type.firstRange(of: "boundary=").map { String(type[$0.upperBound...]) } ?? ""
    let boundary = ["sluice-", "------------------------"].contains { given.hasPrefix($0) } ? given : nil
    func plain(_ text: String) -> String { boundary.map { text.replacing($0, with: "BOUNDARY") } ?? text }
    let headers = request.headers.compactMap { line -> String? in
      let name = line.name.lowercased()
      guard !names.contains(name), !line.value.hasPrefix("curl/"), !line.value.hasPrefix("sluice/") else { return nil }
      // Curl 7.88 sends `Expect` with every uploaded file. Newer versions send it only for files above 1 MiB.
      if name == "expect", request.body.count <= 1 << 20 { return nil }
      return "\(name): \(name == "content-length" && boundary != nil ? "" : plain(line.value))"
    }
    let body = plain(String(decoding: request.body, as: UTF8.self))
    return (["\(request.method) \(request.target)"] + headers.sorted() + [body]).joined(separator: "\n")
  }
}
