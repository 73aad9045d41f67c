import SluiceMessages

extension Transaction {
  /// Refuses a request whose path leads to different folders on different servers, if a stage's match holds for only
  /// one of these readings. In this case the engine cannot decide whether to call the stage.
  func checkPath() throws(TransactionError) {
    let request = requestForms.native
    guard !request.url.withPath({ PathReadings.isPlain($0) }) else { return }
    for binding in pipeline.pathStages {
      guard let readings = binding.match?.disputedReadings(of: request) else { continue }
      throw Self.disputed(readings, request, binding.name)
    }
  }

  private static func disputed(_ readings: PathReadings, _ request: Request, _ stage: String) -> TransactionError {
    let shown = [request.url.path, readings.standard, readings.lenient ?? ""].map {
      PlainText.line($0, limitBytes: 256)
    }
    return TransactionError(
      code: .invalidURL,
      message:
        "\(request.url.origin): servers read the path \"\(shown[0])\" as \"\(shown[1])\" or as \"\(shown[2])\", and the "
        + "match of stage \"\(stage)\" holds for only one of them; send the path without dot segments",
      isBeforeSending: true)
  }
}
