import Glibc

/// A tool of the system, such as a compiler, run to its end.
struct ToolProcess {
  /// The program, found on `PATH`, and what it is given.
  let words: [String]
  /// Added to the environment.
  var environment: [String: String] = [:]

  init(_ words: [String], environment: [String: String] = [:]) {
    self.words = words
    self.environment = environment
  }

  /// What it says goes to standard error, which is for messages; gives its status.
  func run() throws(CommandError) -> Int32 { try start(output: STDERR_FILENO) {} }

  /// Gives what it wrote to standard output; nil where it failed, or is not there.
  func output() -> String? {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var bytes: [UInt8]?
    let status = try? start(output: ends[1]) {
      close(ends[1])
      bytes = try? Descriptors.readAll(ends[0], limitBytes: 1 << 20)
    }
    if status == nil { close(ends[1]) }
    close(ends[0])
    guard status == 0, let bytes else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func start(output: CInt, _ whileRunning: () -> Void) throws(CommandError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    let arguments = words.map { strdup($0) } + [nil]
    let variables = variables().map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process: pid_t = 0
    let error = posix_spawnp(&process, words[0], &actions, nil, arguments, variables)
    guard error == 0 else {
      throw CommandError(.failed, "cannot run \(words[0]): \(String(cString: strerror(error)))")
    }
    whileRunning()
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
  }

  private func variables() -> [String] {
    var all: [String] = []
    var entry = environ
    while let text = entry.pointee {
      let variable = String(cString: text)
      let name = variable.prefix { $0 != "=" }
      if environment[String(name)] == nil { all.append(variable) }
      entry += 1
    }
    return all + environment.map { "\($0.key)=\($0.value)" }
  }
}
