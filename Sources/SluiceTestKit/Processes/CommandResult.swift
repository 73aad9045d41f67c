/// How a child process ended, and what it said.
public struct CommandResult: Sendable {
  public enum Ending: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)
  }

  public let ending: Ending
  public let standardOutput: [UInt8]
  public let standardError: [UInt8]

  /// The exit status as a shell shows it: 128 + n after signal n.
  public var status: Int32 {
    switch ending {
    case .exited(let status): status
    case .signalled(let number): 128 + number
    }
  }

  public var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
  public var errorText: String { String(decoding: standardError, as: UTF8.self) }
}
