import SluiceServer
import SluiceTestKit

/// The curl of this machine, and what it sends.
enum CurlCommand {
  /// Nil without curl.
  static let path = ["/usr/bin/curl", "/usr/local/bin/curl", "/bin/curl"].first { FileTree.exists($0) }

  /// A request without what curl and `send` can choose for themselves: agent, boundary of a form, and order of headers.
  ///
  /// - Parameter names: headers that are left out besides, in lower case.
  static func comparable(_ request: ServerRequest, without names: Set<String> = []) -> String {
    let type = request.headers.first("content-type") ?? ""
    let given = type.firstRange(of: "boundary=").map { String(type[$0.upperBound...]) } ?? ""
    let boundary = ["sluice-", "------------------------"].contains { given.hasPrefix($0) } ? given : nil
    func plain(_ text: String) -> String { boundary.map { text.replacing($0, with: "BOUNDARY") } ?? text }
    let headers = request.headers.compactMap { line -> String? in
      let name = line.name.lowercased()
      guard !names.contains(name), !line.value.hasPrefix("curl/"), !line.value.hasPrefix("sluice/") else { return nil }
      // Curl 7.88 sends `Expect` with every file that is uploaded, even of one byte; newer versions only above 1 MiB.
      if name == "expect", request.body.count <= 1 << 20 { return nil }
      return "\(name): \(name == "content-length" && boundary != nil ? "" : plain(line.value))"
    }
    let body = plain(String(decoding: request.body, as: UTF8.self))
    return (["\(request.method) \(request.target)"] + headers.sorted() + [body]).joined(separator: "\n")
  }
}
