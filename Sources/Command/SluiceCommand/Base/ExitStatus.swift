/// The exit statuses of the command; the table is in `sluice help` and docs/command/README.md. ``SendStatus`` has those
/// of failed requests of `send`.
struct ExitStatus: Equatable, Sendable {
  let code: Int32

  static let succeeded = ExitStatus(code: 0)
  /// A request failed, or output could not be written.
  static let failed = ExitStatus(code: 1)
  /// Wrong usage, or a configuration that is wrong or names a file that does not exist.
  static let usage = ExitStatus(code: 2)
  /// A library was found but refused.
  static let refused = ExitStatus(code: 3)
  /// `attach --list`: the answer depends on what the program does.
  static let undecided = ExitStatus(code: 4)
  /// A plugin has called `exit`.
  static let endedByPlugin = ExitStatus(code: 70)
  /// The reader of standard output has closed it.
  static let brokenPipe = ExitStatus(code: 141)

  static func interrupted(by signal: Int32) -> ExitStatus { ExitStatus(code: 128 + signal) }
}
