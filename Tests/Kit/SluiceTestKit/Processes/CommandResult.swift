/// How a child process ended, and what it wrote.
package struct CommandResult: Sendable {
  package enum Ending: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)
  }

  package let ending: Ending
  package let standardOutput: [UInt8]
  package let standardError: [UInt8]

  /// The exit status as a shell shows it: 128 + n after signal n.
  package var status: Int32 {
    switch ending {
    case .exited(let status): status
    case .signalled(let number): 128 + number
    }
  }

  package var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
  package var errorText: String { String(decoding: standardError, as: UTF8.self) }
}
