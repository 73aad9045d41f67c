import SluiceAssembly

/// How long the command waits for the readers of its outputs.
enum OutputPatience {
  /// How long a FIFO may have no reader when it is opened.
  static let reader = FileText.pipeLimit
  /// How long an output may take no bytes after the time limit of the request.
  static let stuck = Duration.seconds(1)

  /// How long a FIFO may have no reader: not longer than the request may take (`-m`).
  static func reader(_ arguments: ParsedArguments) throws(CommandError) -> Duration {
    guard let limit = try arguments.duration("max-time", unit: "s"), limit > .zero else { return reader }
    return min(limit, reader)
  }
}
