import SluiceMessages
import SluicePipeline

/// The loop's side of a body that is written to a ``SpillFile``. Unchecked, because only that loop uses it.
final class SpilledBody: @unchecked Sendable {
  /// If the disk accepts no bytes for this time, the bodies that wait for it fail.
  static let patience = Duration.seconds(30)

  private let loop: any EventLoop
  private let whenReady: () -> Void
  private lazy var file = SpillFile { [loop, weak self] in
    loop.post { [weak self] in self?.fileIsReady() }
  }
  private let watch = DiskWatch()
  private var failure: TransportError?

  /// - Parameter whenReady: called on the loop when the caller should repeat a call that could not finish.
  init(on loop: any EventLoop, whenReady: @escaping () -> Void) {
    self.loop = loop
    self.whenReady = whenReady
    watch.body = self
  }

  deinit { file.abandon() }

  /// Takes a piece; returns ``BodyProgress/pause`` if the disk cannot keep up.
  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress {
    if let failure { throw failure }
    if try file.append(piece) { return .proceed }
    watch.begin(on: loop)
    return .pause
  }

  /// The file if all of the body is on disk; nil until then.
  func finish() throws(TransportError) -> FileBody? {
    if let failure { throw failure }
    if let body = try file.finish() { return body }
    watch.begin(on: loop)
    return nil
  }

  private func fileIsReady() {
    watch.end(on: loop)
    whenReady()
  }

  fileprivate func diskStandsStill() {
    failure = TransportError(
      .bodyFile,
      "the disk has not accepted any part of a body for \(Self.patience); check the folder that TMPDIR names, or /tmp")
    whenReady()
  }
}

/// Watches whether the disk makes progress while a body waits for it. It is a separate object, because the loop retains
/// the target of a timer and must not retain the body.
private final class DiskWatch: LoopTimerTarget {
  weak var body: SpilledBody?
  private weak var loop: (any EventLoop)?
  private let timer = LoopTimer()
  private var seen: UInt64 = 0

  func begin(on loop: any EventLoop) {
    self.loop = loop
    seen = SpillThreads.progress
    loop.arm(timer, at: loop.now + SpilledBody.patience, for: self)
  }

  func end(on loop: any EventLoop) { loop.disarm(timer) }

  func timerDidFire(_ timer: LoopTimer) {
    guard let body, let loop else { return }
    if seen == SpillThreads.progress { body.diskStandsStill() } else { begin(on: loop) }
  }
}
