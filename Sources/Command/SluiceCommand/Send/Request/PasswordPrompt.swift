import Glibc
import SluiceMessages
import SluiceSupport

/// Asks for a password on the terminal without showing what is typed.
enum PasswordPrompt {
  /// The arguments. If `-u USER` has no password, asks for it and adds it.
  static func complete(_ arguments: ParsedArguments) throws(CommandError) -> ParsedArguments {
    guard let user = arguments.bytes("user"), !user.contains(UInt8(ascii: ":")), !arguments.has("curl") else {
      return arguments
    }
    var completed = arguments
    let password = try ask("for user \(PlainText.quote(user.span))")
    completed.append(("user", ArgumentWord(user + [UInt8(ascii: ":")] + password)))
    return completed
  }

  /// - Parameter what: the end of the question, such as `for user "me"`.
  /// - Throws: an error if there is no terminal, or if the input ends.
  private static func ask(_ what: String) throws(CommandError) -> [UInt8] {
    guard let terminal = FileDescriptor(opening: "/dev/tty", O_RDWR | O_CLOEXEC) else {
      throw CommandError(.usage, "there is no terminal to ask for the password \(what); give it as USER:PASSWORD")
    }
    var settings = termios()
    guard tcgetattr(terminal.raw, &settings) == 0 else {
      throw CommandError(.usage, "the settings of the terminal cannot be read: \(SystemError.text())")
    }
    earlier.withLock { $0 = Earlier(settings: settings, terminal: terminal.raw) }
    defer { restoreTerminal() }
    settings.c_lflag &= ~tcflag_t(ECHO)
    // If echoing cannot be switched off, the command fails, because the terminal would show the password.
    guard tcsetattr(terminal.raw, TCSAFLUSH, &settings) == 0 else {
      throw CommandError(
        .usage, "the terminal cannot hide what is typed: \(SystemError.text()); give the password as USER:PASSWORD")
    }
    _ = terminal.writeAll(Array("Enter password \(what): ".utf8))
    let line = try readLine(terminal.raw)
    _ = terminal.writeAll([UInt8(ascii: "\n")])
    return line
  }

  private struct Earlier: Sendable {
    var settings: termios
    let terminal: Int32
  }

  /// The settings that the terminal had before echoing was switched off.
  private static let earlier = Locked<Earlier?>(nil)

  /// Switches echoing on again if it was switched off here. Can be called on any thread.
  static func restoreTerminal() {
    earlier.withLock { earlier in
      guard var known = earlier.take() else { return }
      tcsetattr(known.terminal, TCSAFLUSH, &known.settings)
    }
  }

  private static let maximumBytes = 4096

  private static func readLine(_ descriptor: Int32) throws(CommandError) -> [UInt8] {
    var (line, byte) = ([UInt8](), UInt8(0))
    while true {
      let count = read(descriptor, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { throw CommandError(.usage, "no password was given") }
      if byte == UInt8(ascii: "\n") { return line }
      guard line.count < maximumBytes else { throw CommandError(.usage, "the password is too long") }
      line.append(byte)
    }
  }
}
