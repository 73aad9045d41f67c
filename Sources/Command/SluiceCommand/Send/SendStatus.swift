import SluiceMessages
import SluicePipeline

/// The exit statuses of `send` for failed requests. If curl has a status for the failure, `send` has the same status
/// (curl(1), "EXIT CODES").
enum SendStatus {
  /// The server did not send the rest of a body.
  static let notResumed = ExitStatus(code: 33)
  /// The output could not be written.
  static let notWritten = ExitStatus(code: 23)

  /// Gives the failure of a file that `send` writes, whichever option names it, the status of an output.
  static func unwritten(_ error: CommandError) -> CommandError {
    CommandError(error.status == .failed ? notWritten : error.status, error.message)
  }

  /// Runs a step that only writes files.
  static func writing<Value>(_ step: () throws(CommandError) -> Value) throws(CommandError) -> Value {
    do throws(CommandError) { return try step() } catch { throw unwritten(error) }
  }

  /// The error of a request that is refused before anything is sent, with the status that the request would have.
  static func failure(_ error: TransportError) -> CommandError {
    let error = TransactionError(error)
    return CommandError(of(error), error.description)
  }

  static func of(_ error: TransactionError) -> ExitStatus { ExitStatus(code: code(of: error)) }

  private static func code(of error: TransactionError) -> Int32 {
    switch (error.code, error.detail) {
    case (.tls, .certificate), (.proxy, .proxyCertificate): 60
    case (.tls, .publicKey): 90
    case (.tls, .ownCertificate): 58
    case (.connectionLost, .noResponse): 52
    case (.connectionLost, .partialResponse): 18
    case (.proxy, .proxyName): 5
    case (.proxy, .proxyTLS): 35
    case (.proxy, .tunnel): 56
    case (.proxy, .socks): 97
    default: codes[error.code] ?? 1
    }
  }

  private static let codes: [ErrorCode: Int32] = [
    .nameLookup: 6, .connect: 7, .proxy: 7, .invalidResponse: 8, .status: 22, .bodyFile: 26,
    .timeout: 28, .connectTimeout: 28, .deadline: 28, .tls: 35, .tooManyRedirects: 47, .redirectLoop: 47,
    .connectionLost: 56, .decoding: 61, .responseTooLarge: 63, .bodyNotReplayable: 65,
  ]
}
