import SluiceTestKit
import Testing

/// Tests which signals `sluice attach` forwards to the program. The command runs on its own terminal, and a program in
/// Python counts the signals.
@Suite(.enabled(if: !Sanitizer.isOn)) struct AttachSignalTests {
  private static let python = "/usr/bin/python3"

  /// SIGUSR1 ends the program. On SIGUSR2, the program and its child each send a signal to the command, as a signal to
  /// their process group would. The program uses `sigwait`, because a handler would run once for two signals that
  /// arrive together.
  private static let counter = """
    import os, signal, subprocess, sys
    pipe, counts = int(sys.argv[1]), {}
    numbers = [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2]
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    def say(text): os.write(pipe, (text + '\\n').encode())
    def take():
        number = int(signal.sigwait(numbers))
        counts[number] = counts.get(number, 0) + 1
        return number
    say('%d %d' % (os.getpid(), os.getppid()))
    while True:
        number = take()
        if number == signal.SIGUSR1: break
        if number == signal.SIGUSR2:
            os.kill(os.getppid(), signal.SIGHUP)
            words = ['sh', '-c', 'kill -INT $0; echo; read line', str(os.getppid())]
            child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            child.stdout.readline()
        say('got')
    say('counts %s' % sorted(counts.items()))
    """

  /// The command forwards signals in the order of their numbers, so any other signal that it forwards arrives before
  /// SIGUSR1.
  private static let terminal = """
    import os, pty, signal, sys
    signal.alarm(300)
    action, words = sys.argv[1], sys.argv[2:]
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    leader, terminal = pty.fork()
    if leader == 0: os.execvp(words[0], words + [str(writing)])
    os.close(writing)
    lines = os.fdopen(reading)
    program, command = map(int, next(lines).split())
    if action == 'hang up': os.close(terminal)
    elif action == 'signal the command': os.kill(program, signal.SIGUSR2)
    else: os.write(terminal, action.encode())
    assert next(lines) == 'got\\n'
    os.kill(command, signal.SIGUSR1)
    for line in lines: print(line, end='')
    """

  /// - Parameter shell: the words that are put before the command.
  /// - Returns: the program's output: pairs of a signal's number and the number of times that this signal came.
  private func counts(after action: String, under shell: [String] = []) async throws -> String {
    let fixture = try AttachFixture()
    let counter = try fixture.folder.write(Self.counter, to: "counter.py")
    let words = ["attach", "-c", fixture.configuration, "--", Self.python, counter]
    let result = try await fixture.run([Self.python, "-c", Self.terminal, action] + shell + [Tool.path] + words)
    let lines = result.outputText.split(separator: "\n").map(String.init).filter { $0 != "got" }
    #expect(result.errorText == "")
    return lines.joined(separator: "\n")
  }

  private static let shell = ["sh", "-c", #""$@"; true"#, "sh"]

  @Test(arguments: [("\u{3}", 2), ("\u{1C}", 3)])
  func `the signal of a terminal key reaches the program once`(key: String, signal: Int) async throws {
    #expect(try await counts(after: key) == "counts [(\(signal), 1), (10, 1)]")
  }

  @Test func `the SIGHUP of a terminal that hangs up reaches the program once`() async throws {
    #expect(try await counts(after: "hang up", under: Self.shell) == "counts [(1, 1), (10, 1)]")
  }

  @Test func `the SIGHUP of a terminal reaches the program once even if the command leads the session`() async throws {
    #expect(try await counts(after: "hang up") == "counts [(1, 1), (10, 1)]")
  }

  @Test func `a signal that the program or its child sends to the command is not forwarded to the program`()
    async throws
  {
    #expect(try await counts(after: "signal the command") == "counts [(10, 1), (12, 1)]")
  }

  // MARK: Stopping

  private static let stopping = """
    import os, signal, sys
    signal.signal(signal.SIGCONT, lambda *_: os._exit(7))
    os.write(int(sys.argv[2]), b'ready\\n')
    if sys.argv[1] == 'by itself': os.kill(os.getpid(), signal.SIGSTOP)
    while True: signal.pause()
    """

  /// Imitates a shell with one job.
  private static let shellWithJob = """
    import os, pty, signal, sys
    signal.alarm(300)
    how, words = sys.argv[1], sys.argv[2:]
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    leader, terminal = pty.fork()
    if leader == 0:
        signal.alarm(300)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpgrp())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execvp(words[0], words + [how, str(writing)])
        status = os.waitpid(job, os.WUNTRACED)[1]
        os.write(writing, b'stopped %d\\n' % os.WIFSTOPPED(status))
        os.killpg(job, signal.SIGCONT)
        status = os.waitpid(job, os.WUNTRACED)[1]
        os.write(writing, b'exited %d\\n' % os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(writing)
    for line in os.fdopen(reading):
        print(line, end='')
        if line == 'ready\\n' and how == 'by a key': os.write(terminal, b'\\x1a')
    """

  @Test(arguments: ["by itself", "by a key"])
  func `a stopped program returns the terminal to the shell, and continues after SIGCONT`(how: String) async throws {
    let fixture = try AttachFixture()
    let program = try fixture.folder.write(Self.stopping, to: "stopping.py")
    let words = [Tool.path, "attach", "-c", fixture.configuration, "--", Self.python, program]
    let result = try await fixture.run([Self.python, "-c", Self.shellWithJob, how] + words)
    #expect(result.outputText == "ready\nstopped 1\nexited 7\n")
    #expect(result.errorText == "")
  }
}
