import Glibc
package import SluiceTestKit

/// A real nginx for one test, with its own folder and free ports. It ends when this object is released.
package final class NginxServer: Sendable {
  package struct Ports: Sendable {
    package let clear: UInt16
    /// The port for TLS. If there are no certificates, nothing listens on this port.
    package let tls: UInt16
  }

  package let ports: Ports
  package let folder: TemporaryDirectory
  private let process: RunningCommand

  /// `http://127.0.0.1:port`, without a slash at the end.
  package var baseURL: String { "http://127.0.0.1:\(ports.clear)" }
  /// `https://localhost:port`; HTTP/2 for clients that ask for it by ALPN.
  package var secureBaseURL: String { "https://localhost:\(securePort)" }
  package var securePort: UInt16 { ports.tls }
  package var processID: Int32 { process.processID }

  private init(ports: Ports, folder: TemporaryDirectory, process: RunningCommand) {
    self.ports = ports
    self.folder = folder
    self.process = process
  }

  /// Whether nginx is installed on this machine.
  package static var isAvailable: Bool { program != nil }

  /// Starts nginx and returns when it accepts connections.
  package static func start(
    _ configuration: NginxConfiguration = NginxConfiguration(), certificates: TestCertificates? = nil
  ) async throws -> NginxServer {
    guard let program else {
      throw TestKitError("nginx is not on PATH nor in /usr/sbin; install nginx-light")
    }
    let folder = try TemporaryDirectory()
    try folder.writeSparse(byteCount: configuration.bigFileBytes, to: "big")
    try folder.write(String(repeating: "sixteen letters\n", count: 4096), to: "text")
    for _ in 0..<5 {
      let ports = Ports(clear: try Loopback.freePort(), tls: try Loopback.freePort())
      let text = try configuration.text(folder: folder.path, ports: ports, certificates: certificates)
      let file = try folder.write(text, to: "nginx.conf")
      let command = Command(program, ["-p", folder.path, "-c", file, "-e", folder.path("error.log")])
      let process = try command.start()
      process.closeInput()
      if await Readiness.hasWritten(folder.path("nginx.pid"), by: process) {
        return NginxServer(ports: ports, folder: folder, process: process)
      }
      guard process.errorSoFar.contains("Address already in use") else {
        throw TestKitError("nginx did not start:\n\(process.errorSoFar)\(log(in: folder))")
      }
    }
    throw TestKitError("nginx found only ports that were in use")
  }

  /// Stops nginx after it has finished the requests that it is serving.
  package func stop() async throws {
    process.send(signal: SIGQUIT)
    _ = try await process.wait(upTo: Patience.limit)
  }

  /// Kills the server, so that connections end in the middle of a message. Returns when the process has ended.
  package func kill() async throws {
    process.send(signal: SIGKILL)
    _ = try await process.wait(upTo: Patience.limit)
  }

  /// Lines of the access log so far; empty unless a format was configured.
  package var accessLog: [String] {
    ((try? FileTree.readText(folder.path("access.log"))) ?? "").split(separator: "\n").map(String.init)
  }

  /// The number of requests that nginx has served so far, including the requests with which this number is read.
  package func requestCount() throws -> Int {
    let text = try RawClient(port: ports.clear).request("GET", "/nginx-status").bodyText
    let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    guard numbers.count >= 4 else { throw TestKitError("nginx's status is \"\(text)\"") }
    return numbers[3]
  }

  private static let program: String? = {
    let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":") + ["/usr/sbin"]
    return folders.map { "\($0)/nginx" }.first { access($0, X_OK) == 0 }
  }()

  private static func log(in folder: TemporaryDirectory) -> String {
    (try? FileTree.readText(folder.path("error.log"))) ?? ""
  }
}
