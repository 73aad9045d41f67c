import SluiceServer

/// The sockets that the service manager has opened, by their names (`FileDescriptorName=` of a socket unit).
struct InheritedSockets {
  private let passed: [String]
  private var sockets: [(name: String, descriptor: Int32)]

  init(_ sockets: [(name: String, descriptor: Int32)]) {
    self.sockets = sockets
    passed = sockets.map(\.name)
  }

  /// Takes a socket out of the list.
  /// - Parameter name: nil for the only socket that was passed.
  mutating func take(_ name: String?) throws(CommandError) -> SharedListener {
    let wanted = "serve: listen at \"systemd\(name.map { ":\($0)" } ?? "")\""
    guard !passed.isEmpty else {
      throw CommandError(
        .usage,
        "\(wanted): the service manager has passed no socket; start this command by a socket unit, which sets"
          + " LISTEN_FDS")
    }
    guard name != nil || passed.count == 1 else {
      throw CommandError(
        .usage, "\(wanted): the service manager has passed \(Self.words(passed)); name one as \"systemd:NAME\"")
    }
    guard let index = sockets.firstIndex(where: { name == nil || $0.name == name }) else {
      throw CommandError(
        .usage, "\(wanted): the service manager has passed only \(Self.words(passed)), and each serves once")
    }
    let socket = sockets.remove(at: index)
    guard let listener = SharedListener(adopting: socket.descriptor) else {
      throw CommandError(.usage, "\(wanted): descriptor \(socket.descriptor) is not a stream socket that listens")
    }
    return listener
  }

  /// A warning about sockets that nobody has taken; nil if there are none. Their clients would get no answer.
  var unused: String? {
    sockets.isEmpty
      ? nil
      : "nothing listens at \(Self.words(sockets.map(\.name))) of the service manager; add an entry"
        + " \"at\": \"systemd:NAME\" for each"
  }

  private static func words(_ names: [String]) -> String {
    (names.count == 1 ? "the socket " : "the sockets ") + names.map { "\"\($0)\"" }.joined(separator: ", ")
  }
}
