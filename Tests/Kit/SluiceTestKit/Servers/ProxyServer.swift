import Glibc

/// A real proxy for one test, on a free port of 127.0.0.1. It ends when this object is released.
package final class ProxyServer: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// An HTTP proxy.
    case tinyproxy
    /// A SOCKS 5 proxy.
    case microsocks
  }

  package let port: UInt16
  private let folder: TemporaryDirectory
  private let process: RunningCommand
  /// What accepts TLS for the proxy; nil for a proxy in clear text.
  private let front: RunningCommand?

  private init(port: UInt16, folder: TemporaryDirectory, process: RunningCommand, front: RunningCommand?) {
    self.port = port
    self.folder = folder
    self.process = process
    self.front = front
  }

  /// Whether all proxies are installed on this machine.
  package static var areAvailable: Bool {
    program("tinyproxy") != nil && program("microsocks") != nil && program("stunnel4") != nil
  }

  /// Starts a proxy and returns when it accepts connections.
  ///
  /// - Parameters:
  ///   - user: the user and the password that it demands; nil if it demands none.
  ///   - certificates: if they are given, stunnel accepts TLS for the proxy on ``port``.
  package static func start(
    _ kind: Kind, user: (name: String, password: String)? = nil, behindTLS certificates: TestCertificates? = nil
  ) async throws -> ProxyServer {
    let folder = try TemporaryDirectory()
    let port = try Loopback.freePort()
    let process: RunningCommand
    switch kind {
    case .tinyproxy:
      let login = user.map { "BasicAuth \($0.name) \($0.password)\n" } ?? ""
      let text = "Port \(port)\nListen 127.0.0.1\nTimeout 600\nMaxClients 500\nLogLevel Error\n" + login
      process = try await start(kind.rawValue, ["-d", "-c", folder.write(text, to: "tinyproxy.conf")], port)
    case .microsocks:
      let login = user.map { ["-u", $0.name, "-P", $0.password] } ?? []
      process = try await start(kind.rawValue, ["-i", "127.0.0.1", "-p", "\(port)"] + login, port)
    }
    guard let certificates else { return ProxyServer(port: port, folder: folder, process: process, front: nil) }
    let identity = certificates.server
    let securePort = try Loopback.freePort()
    let text = """
      foreground = yes
      pid =
      [proxy]
      accept = 127.0.0.1:\(securePort)
      connect = 127.0.0.1:\(port)
      cert = \(identity.certificate)
      key = \(identity.key)

      """
    let front = try await start("stunnel4", [folder.write(text, to: "stunnel.conf")], securePort)
    return ProxyServer(port: securePort, folder: folder, process: process, front: front)
  }

  /// Ends the proxy, so that connections end in the middle of a message.
  package func kill() async throws {
    for process in [front, process].compactMap(\.self) {
      process.send(signal: SIGKILL)
      _ = try await process.wait(upTo: Patience.limit)
    }
  }

  private static func start(_ name: String, _ arguments: [String], _ port: UInt16) async throws -> RunningCommand {
    guard let program = program(name) else { throw TestKitError("\(name) is not installed") }
    let process = try Command(program, arguments).start()
    process.closeInput()
    guard await Readiness.accepts(onPort: port, process) else {
      throw TestKitError("\(name) did not start:\n\(process.errorSoFar)")
    }
    return process
  }

  private static func program(_ name: String) -> String? {
    ["/usr/bin", "/usr/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }
}
