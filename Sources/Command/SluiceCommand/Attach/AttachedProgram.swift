import CLinux
import Glibc
import SluiceAssembly
import SluiceSupport

/// The program that runs under the command. The command forwards signals to it and returns its exit status.
struct AttachedProgram {
  private let process: pid_t

  /// Blocks the signals that are forwarded to the program, in the calling thread and in threads that it starts. A
  /// thread that does not block them would receive them, and they would end only the command. Also blocks SIGPIPE: the
  /// command must wait for the program even if nobody reads its messages.
  ///
  /// - Returns: the signals that were blocked before. They must also be blocked in the program.
  static func holdSignals() -> sigset_t {
    var (signals, before) = (ForwardedSignals.all, sigset_t())
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, &before)
    return before
  }

  /// - Parameters:
  ///   - blocked: the value that ``holdSignals()`` returned.
  ///   - plan: the descriptor of the first plan; -1 for none.
  init(
    _ words: [ArgumentWord], preload: String, _ plan: Int32, _ failsWithoutPipeline: Bool, _ folder: AttachFolder,
    blocking blocked: sigset_t
  ) throws(CommandError) {
    let page = folder.pageForPrograms()
    defer { if page >= 0 { close(page) } }
    let others = getenv("LD_PRELOAD").map { String(cString: $0) } ?? ""
    let variables = [
      "LD_PRELOAD": "\(preload)\(others.isEmpty ? "" : ":\(others)")",
      "SLUICE_ATTACH": "\(plan),\(page):\(failsWithoutPipeline ? "fail" : "pass"):\(folder.path)",
      "ASAN_OPTIONS": Self.sanitizerOptions,
    ]
    process = try Self.spawn(words, variables, blocked)
    if plan >= 0 { close(plan) }
    let signals = ForwardedSignals(to: process)
    do throws(CommandError) {
      try SystemThread.begin("sluice-signals") { signals.forward() }.detach()
    } catch {
      StandardError.say("attach: \(error.message); signals to the command do not reach the program", .warning)
    }
  }

  /// Without this option, a program that gcc built with the address sanitizer ends at once if another library is loaded
  /// before the sanitizer's library. Later options win.
  private static var sanitizerOptions: String {
    let given = getenv("ASAN_OPTIONS").map { String(cString: $0) } ?? ""
    return "verify_asan_link_order=0\(given.isEmpty ? "" : ":\(given)")"
  }

  func wait() -> WaitStatus { ForegroundJob(process).wait() ?? .exited(1) }

  private static func spawn(
    _ words: [ArgumentWord], _ variables: [String: String], _ blocked: sigset_t
  ) throws(CommandError) -> pid_t {
    let (words, shown) = (words.map(\.bytes), words.first?.shown ?? "")
    do throws(ProgramStart.Failure) {
      do throws(ProgramStart.Failure) { return try start(words, variables, blocked) } catch {
        // The file is neither a program nor has a `#!` line. As execvp(3) and shells do, this runs it as a script of
        // the shell.
        guard error.number == ENOEXEC, let file = words.first.flatMap(ProgramPath.find) else { throw error }
        return try start([Array("/bin/sh".utf8), file] + words.dropFirst(), variables, blocked)
      }
    } catch {
      let code: Int32 = error.number == ENOENT ? 127 : 126
      throw CommandError(ExitStatus(code: code), "attach: \(shown): \(reason(error.number, words.first ?? [], shown))")
    }
  }

  private static func reason(_ number: Int32, _ word: [UInt8], _ shown: String) -> String {
    guard number == ENOENT, ProgramPath.find(word) != nil else { return ProgramPath.reason(shown, number) }
    return "the interpreter of this script, or the loader of this program, does not exist"
  }

  private static func start(
    _ words: [[UInt8]], _ variables: [String: String], _ blocked: sigset_t
  ) throws(ProgramStart.Failure) -> pid_t {
    guard !ProcessSignals.ignoredChildren else { return try startIgnoringChildren(words, variables, blocked) }
    var program = ProgramStart(words: words, environment: variables)
    let output = StandardOutput.descriptor
    program.input = .descriptor(StandardInput.descriptor)
    program.output = output < 0 ? .closed : .descriptor(output)
    program.blockedSignals = blocked
    return try program.run()
  }

  /// Starts a program that inherits from the command that SIGCHLD is ignored.
  private static func startIgnoringChildren(
    _ words: [[UInt8]], _ variables: [String: String], _ blocked: sigset_t
  ) throws(ProgramStart.Failure) -> pid_t {
    guard let word = words.first, let path = ProgramPath.find(word) ?? (word.contains(UInt8(ascii: "/")) ? word : nil)
    else { throw ProgramStart.Failure(number: ENOENT) }
    let arguments = words.map { strdup($0.map { CChar(bitPattern: $0) } + [0]) } + [nil]
    let environment = ProcessEnvironment.copies(replacing: variables)
    defer { for text in arguments + environment { free(text) } }
    var (process, blocked) = (pid_t(), blocked)
    let number = sluice_start_ignoring_children(
      &process, path.map { CChar(bitPattern: $0) } + [0], arguments, environment, StandardInput.descriptor,
      StandardOutput.descriptor, &blocked)
    guard number == 0 else { throw ProgramStart.Failure(number: number) }
    return process
  }
}
