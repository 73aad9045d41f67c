import Glibc
import SluiceJSON
import SluiceTestKit
import SluiceServer
import SluiceTestServers
import Testing

/// `sluice serve`.
@Suite struct ServeTests {
  @Test func `serve listens with TLS, logs each request, tells the service manager, and drains on SIGTERM`()
    async throws
  {
    let certificates = try await TestCertificates.shared()
    let upstream = try ScriptedServer { _, _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")] }
    let folder = try TemporaryDirectory()
    let manager = try NotifySocket(at: folder.path("notify"))
    let configuration = try folder.write(
      """
      {"serve": {"to": "\(upstream.baseURL)", "listen": [
        {"at": "0", "tls": {"cert": "\(certificates.server.certificate)", "key": "\(certificates.server.key)"}}]}}
      """, to: "serve.json")
    let log = folder.path("access.log")
    // The plugin of the access log is found beside an installed command.
    for name in ["bin", "lib", "lib/sluice", "lib/sluice/plugins"] { try folder.makeFolder(name) }
    let command = folder.path("bin/sluice")
    if link(Tool.path, command) != 0 { try await Command.check("cp", [Tool.path, command]) }
    try await Command.check(
      "install", ["-m", "755", BuiltProducts.library("access-log"), folder.path("lib/sluice/plugins")])
    let environment = Tool.cleared.merging(["NOTIFY_SOCKET": manager.path]) { $1 }
    let running = try Command(
      command, ["serve", "-c", configuration, "--access-log", log], environment: environment
    ).start()
    try await running.waitForError(containing: "serves")
    #expect(try manager.receive() == "READY=1")
    let place = try #require(running.errorSoFar.split(separator: " ").first { $0.hasPrefix("https://") })
    let port = try #require(place.split(separator: ":").last)
    for version in ["--http1.1", "--http2"] {
      let result = try await Tool.run(
        "send", "https://localhost:\(port)/a", version, "--cacert", certificates.authority)
      #expect(result.outputText == "hi", "\(result.errorText)")
    }
    running.send(signal: SIGTERM)
    #expect(try await running.wait().status == 0)
    #expect(try manager.receive() == "STOPPING=1")
    let lines = String(decoding: try FileTree.read(log), as: UTF8.self)
    #expect(lines.contains("\"status\":200") && lines.contains("\"client\":\"127.0.0.1\""), "\(lines)")
  }

  @Test func `credentials for strangers are named`() async throws {
    let folder = try TemporaryDirectory()
    let configuration = try folder.write(
      """
      {"plugins": {"auth": {"library": "\(BuiltProducts.library("bearer-auth"))", "config": {"token": {"env": "SERVE_TEST_TOKEN"}, "hosts": ["*"]}}},
       "issue": ["auth"],
       "serve": {"to": "http://127.0.0.1:9", "listen": [{"at": "0.0.0.0:0", "clients": "open"}]}}
      """, to: "serve.json")
    let running = try Tool.start("serve", "-c", configuration, environment: ["SERVE_TEST_TOKEN": "secret"])
    try await running.waitForError(containing: "serves")
    #expect(running.errorSoFar.contains("the plugin \"auth\" adds credentials"))
    running.send(signal: SIGTERM)
    #expect(try await running.wait().status == 0)
  }

  @Test func `the limit of descriptors is raised for many clients`() async throws {
    let running = try Command(
      "sh", ["-c", "ulimit -Sn 256; exec \"$0\" serve -l 0 --to http://127.0.0.1:9", Tool.path],
      environment: Tool.cleared
    ).start()
    try await running.waitForError(containing: "serves")
    let limits = try FileTree.readText("/proc/\(running.processID)/limits").split(separator: "\n")
    let files = try #require(limits.first { $0.hasPrefix("Max open files") }).split(separator: " ")
    #expect(try #require(Int(files[3])) > 256)
    running.send(signal: SIGTERM)
    #expect(try await running.wait().status == 0)
  }

  /// Starts the command as systemd does: with sockets that listen, from descriptor 3 on.
  private static func startWithSockets(_ names: [String], _ arguments: [String]) throws -> RunningCommand {
    let program = #"""
      use Socket; use POSIX ();
      my @names = split /,/, shift;
      $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = @names; $ENV{LISTEN_FDNAMES} = join ":", @names;
      for my $index (0 .. $#names) {
        socket(my $socket, PF_INET, SOCK_STREAM, 0) or die $!;
        bind($socket, sockaddr_in(0, INADDR_LOOPBACK)) or die $!;
        if ($names[$index] ne "deaf") { listen($socket, 5) or die $! }
        push @sockets, $socket;
        POSIX::dup2(fileno($socket), 100 + $index);
      }
      POSIX::dup2(100 + $_, 3 + $_) for 0 .. $#names;
      exec @ARGV;
      """#
    return try Command(
      "perl", ["-e", program, names.joined(separator: ","), Tool.path, "serve"] + arguments, environment: Tool.cleared
    ).start()
  }

  private static func configuration(_ folder: TemporaryDirectory, _ upstream: String, at places: [String]) throws
    -> String
  {
    let listen = places.map { "{\"at\": \"\($0)\", \"clients\": \"open\"}" }.joined(separator: ", ")
    return try folder.write("{\"serve\": {\"to\": \"\(upstream)\", \"listen\": [\(listen)]}}", to: "serve.json")
  }

  @Test func `sockets of the service manager are served`() async throws {
    let upstream = try LoopbackServer { _ in .text("hi") }
    defer { upstream.stop() }
    let folder = try TemporaryDirectory()
    let path = try Self.configuration(folder, upstream.baseURL, at: ["systemd:b"])
    let running = try Self.startWithSockets(["a", "b", "c"], ["-c", path])
    try await running.waitForError(containing: " serves ")
    #expect(running.errorSoFar.contains("nothing listens at the sockets \"a\", \"c\" of the service manager"))
    let place = try #require(running.errorSoFar.split(separator: " ").first { $0.hasPrefix("http://127.0.0.1:") })
    #expect(try await Tool.run("send", "\(place)/").outputText == "hi")
    running.send(signal: SIGTERM)
    #expect(try await running.wait().status == 0)
  }

  @Test(arguments: [
    (["a", "b"], "systemd", "has passed the sockets \"a\", \"b\"; name one"),
    (["a"], "systemd:x", "has passed only the socket \"a\""),
    (["deaf"], "systemd", "not a stream socket that listens"),
    ([], "systemd", "no socket; start this command by a socket unit"),
  ])
  func `a socket that the service manager has not passed is named`(
    _ names: [String], _ place: String, _ message: String
  ) async throws {
    let folder = try TemporaryDirectory()
    let running = try Self.startWithSockets(
      names, ["-c", try Self.configuration(folder, "http://127.0.0.1:9", at: [place])])
    let result = try await running.wait()
    #expect(result.status == 2 && result.errorText.contains(message), "\(result.errorText)")
  }

  @Test func `an error of TLS names the file and the reason`() async throws {
    let certificates = try await TestCertificates.shared()
    let folder = try TemporaryDirectory()
    try folder.write("nothing", to: "garbage.pem")
    let own = certificates.server
    let missing = folder.path("missing.pem")
    for (certificate, key, reason) in [
      (missing, own.key, "\"\(missing)\": No such file or directory"),
      (own.certificate, missing, "\"\(missing)\": No such file or directory"),
      (folder.path("garbage.pem"), own.key, "garbage.pem\" has no certificate in PEM"),
      (own.certificate, folder.path("garbage.pem"), "garbage.pem\" has no key"),
      (own.certificate, certificates.client.key, "does not belong to the certificate"),
    ] {
      let configuration = try folder.write(
        """
        {"serve": {"to": "http://127.0.0.1:9", "listen": [{"at": "0", "tls": {"cert": "\(certificate)", "key": "\(key)"}}]}}
        """, to: "serve.json")
      for command in ["serve", "check"] {
        let result = try await Tool.run(command, "-c", configuration)
        #expect(result.status == 2 && result.errorText.contains(reason), "\(command): \(result.errorText)")
      }
    }
  }
}

/// The socket of a service manager (sd_notify(3)).
private final class NotifySocket {
  let path: String
  private let descriptor: Int32

  init(at path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw TestKitError.system("bind to \(path)") }
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func receive() throws -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw TestKitError.system("recv") }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }
}
