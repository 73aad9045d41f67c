import SluiceTestKit
import SluiceTestServers

/// An nginx, and a configuration whose requests go to it over HTTP/1.1 in clear text, or over HTTP/2 with TLS. The
/// pipeline has the plugins bearer-auth and json-edit (C) and access-log (Swift), and the built-ins headers and
/// metrics.
struct ShippedPipeline {
  let server: NginxServer
  /// The path of the configuration.
  let file: String
  /// The path of the file that access-log writes.
  let log: String
  private let folder: TemporaryDirectory

  init(isSecure: Bool) async throws {
    let certificates = isSecure ? try await TestCertificates.shared() : nil
    var settings = NginxConfiguration()
    settings.accessLogFormat = "$server_protocol $request_length $http_authorization $http_traceparent"
    settings.extraDirectives = Self.readingLocation
    server = try await NginxServer.start(settings, certificates: certificates)
    folder = try TemporaryDirectory()
    log = folder.path("access.log")
    let base = isSecure ? server.secureBaseURL : server.baseURL
    file = try folder.write(Self.configuration(base, log, certificates?.authority), to: "c.json")
  }

  /// Returns request documents with the ids of the range, one on each line.
  static func input(_ ids: Range<Int>) -> String {
    ids.map { number in
      #"{"id": \#(number), "method": "POST", "url": "/read", "headers": {"content-type": "application/json"}, "body": {"json": {"n": \#(number)}}}"#
        + "\n"
    }.joined()
  }

  /// The deadline of the tracer is so long that even a busy machine never switches it off.
  private static func configuration(_ base: String, _ log: String, _ authority: String?) -> String {
    let tls = authority.map { #", "tls": {"ca": "\#($0)"}"# } ?? ""
    return """
      {"plugins": {
        "auth": {"library": "\(BuiltProducts.library("bearer-auth"))",
                 "config": {"token": "t0k", "hosts": ["127.0.0.1", "localhost"]}},
        "edit": {"library": "\(BuiltProducts.library("json-edit"))",
                 "config": {"request": [{"op": "set", "path": "/seen", "value": true}]}},
        "log": {"library": "\(BuiltProducts.library("access-log"))", "config": {"output": "\(log)"},
                "deadline": "30s"},
        "headers": {"builtin": "headers", "config": {"hosts": ["127.0.0.1", "localhost"]}},
        "metrics": {"builtin": "metrics"}},
       "request": ["auth", "edit"], "issue": ["headers"], "tracers": ["log", "metrics"],
       "transport": {"baseURL": "\(base)", "loops": 2\(tls)}}
      """
  }

  /// Answers a POST after it has read the whole body, as an application does. A plain `return` would answer earlier.
  private static let readingLocation = """
    location = /mirrored { internal; return 204; }
    location @taken { return 200 "ok\\n"; }
    location = /read { mirror /mirrored; try_files /text =404; error_page 405 =200 @taken; }
    """
}
