import Glibc

/// A real nginx on its own processor; it ends when this object is released.
final class Nginx {
  private let process: pid_t
  private let folder: TemporaryFolder

  /// - Parameter streams: the maximum number of streams on an HTTP/2 connection.
  init(port: Int, securePort: Int, processor: Int, isSecure: Bool, streams: Int) throws {
    folder = try TemporaryFolder()
    let path = folder.path
    if isSecure { try Self.makeCertificate(path) }
    try folder.write(Array(Self.configuration(path, port, securePort, isSecure, streams).utf8), to: "nginx.conf")
    process = try ChildProcess.spawn([
      "taskset", "-c", "\(processor)", "nginx", "-p", path, "-c", "\(path)/nginx.conf", "-e", "\(path)/error.log",
    ])
    guard Self.isListening(port) else { throw BenchmarkError("nginx does not listen on port \(port); see \(path)") }
  }

  var authority: String { "\(folder.path)/server.pem" }

  deinit {
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
  }

  private static func configuration(
    _ folder: String, _ port: Int, _ securePort: Int, _ isSecure: Bool, _ streams: Int
  ) -> String {
    let tls =
      isSecure
      ? """
      listen 127.0.0.1:\(securePort) ssl http2;
      ssl_protocols TLSv1.3; ssl_certificate \(folder)/server.pem; ssl_certificate_key \(folder)/server.key;
      """ : ""
    return """
      daemon off; master_process off; pid \(folder)/pid;
      events { worker_connections 32768; multi_accept on; }
      http {
        access_log off; keepalive_requests 1000000000; keepalive_timeout 600s; http2_max_concurrent_streams \(streams);
        client_body_temp_path \(folder); proxy_temp_path \(folder); fastcgi_temp_path \(folder);
        uwsgi_temp_path \(folder); scgi_temp_path \(folder);
        server {
          listen 127.0.0.1:\(port) backlog=4096;
          \(tls)
          location = / { default_type application/json; return 200 '{"name": "a", "count": 1}'; }
        }
      }
      """
  }

  private static func makeCertificate(_ folder: String) throws {
    try ChildProcess.run([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
      "-keyout", "\(folder)/server.key", "-out", "\(folder)/server.pem",
    ])
  }

  private static func isListening(_ port: Int) -> Bool {
    for _ in 0..<500 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(descriptor) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      if isConnected { return true }
      usleep(10_000)
    }
    return false
  }
}
