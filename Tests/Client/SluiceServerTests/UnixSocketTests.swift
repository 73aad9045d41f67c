import Glibc
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceServer

/// A server on a Unix socket: who may connect, which files it replaces, and which files remain.
@Suite struct UnixSocketTests {
  private let folder: TemporaryDirectory
  private var path: String { folder.path("a.sock") }

  init() throws { folder = try TemporaryDirectory() }

  private func serve(_ path: String? = nil, _ text: String = "ok") throws(ServerError) -> EmbeddedServer {
    try EmbeddedServer(on: .unix(path: path ?? self.path)) { .text("\(text) \($0.peerUser.map { "\($0)" } ?? "?")") }
  }

  private func refusal(_ path: String? = nil) -> ServerError? {
    do throws(ServerError) {
      try serve(path).stop()
      return nil
    } catch { return error }
  }

  private func status(_ path: String? = nil) -> stat? {
    var status = stat()
    return lstat(path ?? self.path, &status) == 0 ? status : nil
  }

  /// Creates a socket file at which no process listens, as a killed process leaves it behind.
  private func abandon() throws {
    let server = try serve()
    #expect(link(path, folder.path("kept")) == 0)
    server.stop()
    #expect(rename(folder.path("kept"), path) == 0)
    #expect(UnixSocket.find(at: path) == .abandoned)
  }

  @Test func `the server answers its own user, and reports the user to the handler`() throws {
    let server = try serve()
    #expect(server.endpoint.description == path)
    #expect(try RawClient(unixSocket: path).request().bodyText == "ok \(geteuid())")
    #expect(UnixSocket.find(at: path) == .listening(process: getpid()))
  }

  @Test func `only the server's user may use the socket, and the socket is removed with the server`() throws {
    let server = try serve()
    let mode = try #require(status()).st_mode
    #expect(mode & S_IFMT == S_IFSOCK && mode & 0o777 == 0o600)
    server.stop()
    #expect(status() == nil)
    #expect(UnixSocket.find(at: path) == .nothing)
  }

  @Test func `an abandoned socket is replaced`() throws {
    try abandon()
    let server = try serve()
    #expect(try RawClient(unixSocket: path).request().status == 200)
    server.stop()
  }

  @Test func `in a folder, only the sockets without a listener are removed`() throws {
    try abandon()
    let server = try serve(folder.path("b.sock"))
    try folder.write("precious", to: "c.sock")
    #expect(symlink(path, folder.path("d.sock")) == 0)
    UnixSocket.removeAbandoned(["a.sock", "b.sock", "c.sock", "d.sock", "e.sock"], in: folder.path)
    #expect(FileTree.names(in: folder.path).sorted() == ["b.sock", "c.sock", "d.sock"])
    server.stop()
    UnixSocket.removeAbandoned([], in: folder.path)
    UnixSocket.removeAbandoned(["a.sock"], in: folder.path("none"))
  }

  @Test func `a socket with a listener is not replaced, and the error names its process`() throws {
    let server = try serve(nil, "first")
    let error = try #require(refusal())
    #expect(error.code == .addressInUse)
    #expect(error.description.hasPrefix("cannot listen on \(path): process \(getpid()) listens there; "))
    #expect(try RawClient(unixSocket: path).request().bodyText.hasPrefix("first"))
    server.stop()
  }

  @Test func `if many servers start at an abandoned socket, exactly one gets the path`() async throws {
    try abandon()
    let servers = await withTaskGroup(of: EmbeddedServer?.self) { group in
      for number in 0..<8 { group.addTask { try? serve(nil, "\(number)") } }
      return await group.reduce(into: [EmbeddedServer]()) { if let server = $1 { $0.append(server) } }
    }
    #expect(servers.count == 1)
    #expect(try RawClient(unixSocket: path).request().status == 200)
    for server in servers { server.stop() }
    #expect(status() == nil)
  }

  @Test func `a file at the path that is not a socket is not changed`() throws {
    try folder.write("precious", to: "a.sock")
    #expect(refusal()?.code == .pathUnfit)
    #expect(refusal()?.description.contains("the file there is not a socket") == true)
    #expect(try FileTree.readText(path) == "precious")
    unlink(path)
    try folder.makeFolder("a.sock")
    #expect(refusal()?.code == .pathUnfit)
  }

  @Test func `a symbolic link is an error, wherever it leads`() throws {
    for target in [folder.path("nowhere"), folder.path("b.sock")] {
      #expect(symlink(target, path) == 0)
      #expect(refusal()?.code == .pathUnfit)
      #expect(refusal()?.description.contains("it is a symbolic link") == true)
      #expect(status(target) == nil)
      unlink(path)
    }
  }

  @Test func `the longest path works, and one byte more is an error`() throws {
    let room = UnixSocket.maximumPathBytes - folder.path("").utf8.count
    try #require(room > 0)
    let longest = folder.path(String(repeating: "s", count: room))
    let server = try serve(longest)
    #expect(try RawClient(unixSocket: longest).request().status == 200)
    server.stop()
    let error = try #require(refusal(longest + "s"))
    #expect(error.code == .pathUnfit)
    #expect(error.description.contains("the path has 108 bytes, a Unix socket allows at most 107"))
  }

  @Test func `a folder that other users may write is an error, unless it is sticky`() throws {
    let shared = try folder.makeFolder("shared")
    chmod(shared, 0o777)
    #expect(refusal(shared + "/a.sock")?.description.contains("is open to other users") == true)
    chmod(shared, 0o1777)
    #expect(refusal(shared + "/a.sock") == nil)
  }

  @Test func `if a folder is missing, the error names the folder`() {
    let error = refusal(folder.path("none/a.sock"))
    #expect(error?.code == .pathUnfit)
    #expect(error?.description.contains("its folder \(folder.path("none")): No such file or directory") == true)
  }

  @Test func `the error for a refused listener has different advice for a path and for a port`() {
    let path = ServerError(errorNumber: EACCES, .unix(path: "/a.sock"))
    #expect(path.description == "cannot listen on /a.sock: Permission denied; name a path in a folder of your own")
    #expect(ServerError(errorNumber: EACCES, .tcp(port: 80)).advice == "choose a port above 1023")
    #expect(ServerError(errorNumber: EADDRINUSE, .unix(path: "/a.sock")).advice?.contains("port") == false)
  }

  @Test func `a server that ends does not remove the socket of another server`() throws {
    let server = try serve()
    unlink(path)
    let other = try serve(nil, "other")
    server.stop()
    #expect(try RawClient(unixSocket: path).request().bodyText.hasPrefix("other"))
    other.stop()
  }

  @Test func `a silent connection is closed after its time limit`() throws {
    var options = ServerOptions()
    options.idleTimeout = .seconds(1)
    options.workers = 1
    let server = try EmbeddedServer(on: .unix(path: path), options: options) { _ in .text("ok") }
    #expect(try RawClient(unixSocket: path, limit: .seconds(60)).readToEnd().isEmpty)
    server.stop()
  }
}
