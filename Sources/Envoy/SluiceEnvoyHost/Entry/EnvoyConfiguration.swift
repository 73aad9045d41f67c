import CEnvoy
import SluiceJSON
import SluiceMessages

/// One configuration of the filter in Envoy, for one listener or cluster.
final class EnvoyConfiguration: Sendable {
  private enum Kind: String {
    /// Among the HTTP filters of a listener.
    case pipeline
    /// Among the upstream filters of a cluster.
    case issue
  }

  private let host: EnvoyHost
  private let kind: Kind
  private let metrics: EnvoyMetrics?

  private init(_ host: EnvoyHost, _ kind: Kind, _ metrics: EnvoyMetrics?) {
    self.host = host
    self.kind = kind
    self.metrics = metrics
  }

  /// Opens the pipeline of a configuration. Nil after an error, which is logged.
  static func open(
    _ envoy: UnsafeMutableRawPointer?, filter name: String, _ text: String
  ) -> EnvoyConfiguration? {
    do throws(EnvoyRefusal) {
      var missing: UnsafePointer<CChar>?
      guard sluice_envoy_is_known(&missing) else {
        let name = missing.map { String(cString: $0) } ?? ""
        throw EnvoyRefusal("this version of Envoy lacks the function \(PlainText.quote(name)), which the module needs")
      }
      guard let kind = Kind(rawValue: name) else {
        throw EnvoyRefusal(
          "filter_name is \(PlainText.quote(name)); it must be \"pipeline\", for an HTTP filter, or \"issue\", for an"
            + " upstream filter")
      }
      let folder = try folder(text)
      return EnvoyConfiguration(
        try EnvoyHost.open(folder, isIssue: kind == .issue), kind, kind == .pipeline ? EnvoyMetrics(envoy) : nil)
    } catch {
      EnvoyLog.write(.error, error.reason)
      return nil
    }
  }

  private static func folder(_ text: String) throws(EnvoyRefusal) -> String {
    let form = "filter_config must be a google.protobuf.StringValue with the text {\"plan\": \"FOLDER\"}"
    guard let document = try? JSONValue(parsing: Array(text.utf8), options: .rejectDuplicates),
      let folder = document["plan"]?.string
    else { throw EnvoyRefusal(form) }
    guard document.members.map(\.key) == ["plan"] else { throw EnvoyRefusal("\(form), and no other key") }
    guard folder.hasPrefix("/") else {
      throw EnvoyRefusal("\"plan\" is \(PlainText.quote(folder)); it must be an absolute path")
    }
    return folder
  }

  func makeFilter(_ stream: EnvoyStream) -> EnvoyFilter {
    let lane = host.lane
    switch kind {
    case .pipeline: return EnvoyExchange(host, lane, stream, metrics)
    case .issue: return EnvoyAttempt(host, lane, stream)
    }
  }

  func close() { host.release(isIssue: kind == .issue) }
}
