import Glibc

/// Starts other programs.
enum ChildProcess {
  /// Runs a program to its end.
  static func run(_ words: [String]) throws {
    var status: Int32 = 0
    waitpid(try spawn(words), &status, 0)
    guard status == 0 else { throw BenchmarkError("\(words[0]) failed") }
  }

  /// Starts a program, whose standard error is discarded.
  /// - Parameters:
  ///   - input: the program's standard input; if nil, it inherits the standard input of this process.
  ///   - output: the program's standard output; if nil, it inherits the standard output of this process.
  static func spawn(_ words: [String], input: Int32? = nil, output: Int32? = nil) throws -> pid_t {
    // nginx is in /usr/sbin, which is not on every user's path.
    setenv("PATH", "\(getenv("PATH").map { String(cString: $0) } ?? ""):/usr/bin:/usr/sbin", 1)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let pointers = words.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var process = pid_t()
    guard posix_spawnp(&process, words[0], &actions, nil, pointers, environ) == 0 else {
      throw BenchmarkError("cannot start \(words[0]); is it installed?")
    }
    return process
  }

  /// The path of an installed program; nil if it is not installed.
  static func path(of program: String) -> String? {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin"
    return folders.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
  }
}
