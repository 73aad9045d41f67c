import Sluice
import SluiceReplay

/// Swaps in new builds, and prints how they handle earlier requests differently.
func compareBuilds(_ requests: [Request], swapping engine: Engine, configuredBy file: String) async throws {
  var recordings = RecordingBuffer()
  for var request in requests {
    request.wantsRecording = true
    if let recording = await engine.transaction(request).recording { recordings.append(recording) }
  }
  let old = engine.libraryCopies
  try await engine.swap()

  let report = try await Replay()?.compare(
    recordings.exchanges, old: Replay.Build(file: file, libraries: old),
    new: Replay.Build(file: file, libraries: engine.libraryCopies))
  print(report?.text() ?? "not compared: the sluice command was not found")
}
