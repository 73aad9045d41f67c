import CTestKit
import Glibc

/// Starts a child process with the three given standard streams. The child inherits no other descriptor.
enum ChildProcess {
  static func spawn(
    _ command: Command, input: FileDescriptor, output: FileDescriptor, error: FileDescriptor
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (target, stream) in [input, output, error].enumerated() {
      posix_spawn_file_actions_adddup2(&actions, stream.number, Int32(target))
    }
    sluice_test_close_from(&actions, 3)
    if let folder = command.workingDirectory { sluice_test_change_folder(&actions, folder) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    setDefaultSignals(&attributes)

    var process: pid_t = 0
    let status = withCStrings([command.path] + command.arguments) { arguments in
      withCStrings(command.environmentStrings) { environment in
        posix_spawnp(&process, command.path, &actions, &attributes, arguments, environment)
      }
    }
    guard status == 0 else { throw TestKitError.system("cannot start \(command.path)", status) }
    return process
  }

  /// A test runner may ignore or block signals. The child starts with the default settings, as if a shell had started
  /// it.
  private static func setDefaultSignals(_ attributes: inout posix_spawnattr_t) {
    var all = sigset_t()
    var none = sigset_t()
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
  }

  /// Makes a NULL-terminated array of C strings, which is valid while the body runs.
  private static func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return body(copies)
  }
}
