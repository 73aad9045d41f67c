package import Glibc

/// Starts a program of the system, found on `PATH`, such as a compiler.
package struct ProgramStart {
  package enum Stream {
    case inherited
    /// /dev/null.
    case nothing
    /// The program gets a duplicate; the descriptor of this process stays open.
    case descriptor(CInt)
    case closed
  }

  /// The error number (errno(3)) of a program that could not be started.
  package struct Failure: Error {
    package let number: Int32

    package init(number: Int32) { self.number = number }
  }

  /// The program and its arguments, as bytes.
  private let words: [[UInt8]]
  /// Variables that the program gets in addition to, or instead of, those of this process.
  private let environment: [String: String]
  package var input = Stream.inherited
  package var output = Stream.inherited
  package var error = Stream.inherited
  /// Whether the program leads a process group of its own.
  package var leadsGroup = false
  /// The signals that the program blocks; nil means those that the calling thread blocks.
  package var blockedSignals: sigset_t?

  package init(_ words: [String], environment: [String: String] = [:]) {
    self.init(words: words.map { Array($0.utf8) }, environment: environment)
  }

  /// - Parameter words: the program and its arguments. They need not be UTF-8, but must not contain a NUL.
  package init(words: [[UInt8]], environment: [String: String] = [:]) {
    self.words = words
    self.environment = environment
  }

  /// Starts the program and returns the child's process id. The caller must wait for the child.
  package func run() throws(Failure) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (stream, number) in [(input, STDIN_FILENO), (output, STDOUT_FILENO), (error, STDERR_FILENO)] {
      switch stream {
      case .inherited: break
      case .nothing: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .closed: posix_spawn_file_actions_addclose(&actions, number)
      }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    setFlags(&attributes)
    let arguments = words.map { strdup($0.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    let variables = ProcessEnvironment.copies(replacing: environment)
    defer { for text in arguments + variables { free(text) } }
    guard let path = arguments.first ?? nil else { throw Failure(number: ENOENT) }
    var process: pid_t = 0
    let number = posix_spawnp(&process, path, &actions, &attributes, arguments, variables)
    guard number == 0 else { throw Failure(number: number) }
    return process
  }

  private func setFlags(_ attributes: inout posix_spawnattr_t) {
    var flags: Int32 = 0
    if leadsGroup {
      posix_spawnattr_setpgroup(&attributes, 0)
      flags |= POSIX_SPAWN_SETPGROUP
    }
    if var blockedSignals {
      posix_spawnattr_setsigmask(&attributes, &blockedSignals)
      flags |= POSIX_SPAWN_SETSIGMASK
    }
    posix_spawnattr_setflags(&attributes, Int16(flags))
  }
}
