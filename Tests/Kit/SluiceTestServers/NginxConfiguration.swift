/// The paths that an `NginxServer` serves in clear text. If the server has certificates, it also serves these paths
/// over TLS with HTTP/2.
///
/// | path | answer |
/// |---|---|
/// | `/` | 200, `ok` |
/// | `/json` | 200, `{"name": "a", "count": 1}` |
/// | `/post` | 200, takes bodies up to 100 MB |
/// | `/big` | a file of `bigFileBytes` zeros |
/// | `/gzip` | 64 KiB of text, compressed for clients that accept it |
/// | `/redirect` | 302 to `/` |
/// | `/status/N` | an empty answer with status 204, 400, 401, 403, 404, 429, 500, 502, 503 or 504 |
/// | `/nginx-status` | nginx's own counters |
package struct NginxConfiguration: Sendable {
  package var bigFileBytes = 256 * 1024 * 1024
  /// An nginx log format, written to `access.log` in the server's folder; nil writes none.
  package var accessLogFormat: String?
  /// Further directives for the `server` block, such as locations.
  package var extraDirectives = ""
  package var connections = 16384
  /// Whether requests over TLS need a client certificate; nginx answers 400 to requests without one.
  package var demandsClientCertificate = false
  /// The number of requests on a connection before nginx closes it.
  package var requestsPerConnection = 100_000_000

  /// What is wrong with the certificate of the server; nil for a valid certificate.
  package var flaw: TestCertificates.Flaw?

  package init() {}

  func text(folder: String, ports: NginxServer.Ports, certificates: TestCertificates?) throws -> String {
    """
    daemon off;
    # One process, so that killing it ends the server, and measuring it measures the whole server.
    master_process off;
    pid \(folder)/nginx.pid;
    error_log \(folder)/error.log warn;
    events { worker_connections \(connections); multi_accept on; }
    http {
      \(accessLog(folder))
      client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
      uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
      default_type text/plain;
      sendfile on; tcp_nopush on; tcp_nodelay on;
      keepalive_requests \(requestsPerConnection); keepalive_timeout 300s;
      client_max_body_size 100m; client_body_buffer_size 1m;
      http2_max_concurrent_streams 256;
      server {
        listen 127.0.0.1:\(ports.clear) backlog=4096;
        \(try tls(ports, certificates))
        root \(folder);
        location = / { return 200 "ok\\n"; }
        location = /json { default_type application/json; return 200 '{"name": "a", "count": 1}'; }
        location = /post { return 200 "ok\\n"; }
        location = /big { }
        location = /gzip { gzip on; gzip_types *; gzip_min_length 1; try_files /text =404; }
        location = /redirect { return 302 /; }
        location = /nginx-status { stub_status; }
        \(statuses)
        \(extraDirectives)
      }
    }
    """
  }

  private func accessLog(_ folder: String) -> String {
    guard let accessLogFormat else { return "access_log off;" }
    return "log_format test '\(accessLogFormat)'; access_log \(folder)/access.log test;"
  }

  private func tls(_ ports: NginxServer.Ports, _ certificates: TestCertificates?) throws -> String {
    guard let certificates else { return "" }
    let identity = try flaw.map { try certificates.server($0) } ?? certificates.server
    return """
      listen 127.0.0.1:\(ports.tls) ssl http2 backlog=4096;
      ssl_certificate \(identity.certificate); ssl_certificate_key \(identity.key);
      ssl_client_certificate \(certificates.authority); ssl_verify_client \(demandsClientCertificate ? "on" : "optional");
      """
  }

  private var statuses: String {
    [204, 400, 401, 403, 404, 429, 500, 502, 503, 504]
      .map { "location = /status/\($0) { return \($0); }" }.joined(separator: "\n    ")
  }
}
