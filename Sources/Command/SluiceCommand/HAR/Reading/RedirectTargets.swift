import SluiceIDNA
import SluiceJSON
import SluiceMessages

/// Finds the entries that follow a redirect of an earlier entry. A run follows redirects itself, so they are not sent.
struct RedirectTargets {
  private struct Target: Hashable {
    let method: String
    let url: String
  }

  /// For each target of a redirect, the number of later entries that are still expected to follow that redirect.
  private var expected: [Target: Int] = [:]

  /// - Parameter entry: the next entry of the archive.
  /// - Returns: whether an earlier entry redirects to this one.
  mutating func take(_ entry: ArchivePart) -> Bool {
    guard let request = entry["request"]?.json, let method = request["method"]?.string,
      let text = request["url"]?.string
    else { return false }
    let url = String(text.prefix { $0 != "#" })
    let isTarget = remove(Target(method: method, url: url))
    if let target = Self.target(of: entry, method, url) { expected[target, default: 0] += 1 }
    return isTarget
  }

  private mutating func remove(_ target: Target) -> Bool {
    guard let count = expected[target] else { return false }
    expected[target] = count > 1 ? count - 1 : nil
    return true
  }

  private static func target(of entry: ArchivePart, _ method: String, _ url: String) -> Target? {
    guard let response = entry["response"], let status = response.json["status"]?.integer,
      [301, 302, 303, 307, 308].contains(status), let location = location(of: response),
      let base = try? HTTPURL(url, hosts: .idna),
      let target = try? RelativeReference.resolve(location, against: base, hosts: .idna)
    else { return nil }
    // RFC 9110 §15.4.
    let becomesGET = status == 303 && method != "HEAD" || (status == 301 || status == 302) && method == "POST"
    return Target(method: becomesGET ? "GET" : method, url: String(target.string.prefix { $0 != "#" }))
  }

  private static func location(of response: ArchivePart) -> String? {
    if let target = response["redirectURL"]?.json.string, !target.isEmpty { return target }
    let headers = (try? response.pairs("headers")) ?? []
    return headers.first { $0.pair.name.lowercased() == "location" }?.pair.value
  }
}
