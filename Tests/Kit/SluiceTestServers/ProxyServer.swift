import Glibc
import SluiceTestKit

/// A real proxy for one test, on a free port of 127.0.0.1. It ends when this object is released.
package final class ProxyServer: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    /// An HTTP proxy.
    case tinyproxy
    /// A SOCKS 5 proxy.
    case microsocks
  }

  /// A program, and the port on which it listens.
  private struct Program: Sendable {
    let name: String
    let arguments: [String]
    let port: UInt16
  }

  package let port: UInt16
  private let folder: TemporaryDirectory
  /// The proxy, and what accepts TLS for it.
  private let programs: [Program]
  private let processes: Watched<[RunningCommand]>

  private init(_ programs: [Program], _ processes: [RunningCommand], in folder: TemporaryDirectory) {
    port = programs.last?.port ?? 0
    self.programs = programs
    self.processes = Watched(processes)
    self.folder = folder
  }

  /// Whether all proxies are installed on this machine.
  package static var areAvailable: Bool {
    path("tinyproxy") != nil && path("microsocks") != nil && path("stunnel4") != nil
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
    for _ in 0..<5 {
      var programs = [try program(kind, user, in: folder)]
      if let certificates {
        programs.append(try front(of: programs[0].port, certificates.server, in: folder))
      }
      if let processes = try await start(programs) { return ProxyServer(programs, processes, in: folder) }
    }
    throw TestKitError("\(kind.rawValue) found only ports that were in use")
  }

  /// Ends the proxy, so that connections end in the middle of a message.
  package func kill() async throws {
    for process in processes.value.reversed() {
      process.send(signal: SIGKILL)
      _ = try await process.wait(upTo: Patience.limit)
    }
  }

  /// Starts a proxy that was killed, on the same port. Returns when it accepts connections.
  package func restart() async throws {
    guard let started = try await Self.start(programs) else {
      throw TestKitError("another program has taken the port \(port) of the proxy")
    }
    processes.update { $0 = started }
  }

  private static func program(
    _ kind: Kind, _ user: (name: String, password: String)?, in folder: TemporaryDirectory
  ) throws -> Program {
    let port = try Loopback.freePort()
    switch kind {
    case .tinyproxy:
      let login = user.map { "BasicAuth \($0.name) \($0.password)\n" } ?? ""
      let text = "Port \(port)\nListen 127.0.0.1\nTimeout 600\nMaxClients 500\nLogLevel Error\n" + login
      return Program(
        name: kind.rawValue, arguments: ["-d", "-c", try folder.write(text, to: "tinyproxy.conf")], port: port)
    case .microsocks:
      let login = user.map { ["-u", $0.name, "-P", $0.password] } ?? []
      return Program(name: kind.rawValue, arguments: ["-i", "127.0.0.1", "-p", "\(port)"] + login, port: port)
    }
  }

  private static func front(
    of port: UInt16, _ identity: TestCertificates.Identity, in folder: TemporaryDirectory
  ) throws -> Program {
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
    return Program(name: "stunnel4", arguments: [try folder.write(text, to: "stunnel.conf")], port: securePort)
  }

  /// Starts the programs. Returns nil if another program has taken the port of one of them.
  private static func start(_ programs: [Program]) async throws -> [RunningCommand]? {
    var processes: [RunningCommand] = []
    for program in programs {
      guard let path = path(program.name) else { throw TestKitError("\(program.name) is not installed") }
      let process = try Command(path, program.arguments).start()
      process.closeInput()
      guard await Readiness.accepts(onPort: program.port, process), !process.hasEnded else {
        if (try? ListeningSocket(port: program.port)) == nil { return nil }
        throw TestKitError("\(program.name) did not start:\n\(process.errorSoFar)")
      }
      processes.append(process)
    }
    return processes
  }

  private static func path(_ name: String) -> String? {
    ["/usr/bin", "/usr/sbin", "/usr/local/bin"].map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }
}
