import SluiceMessages
import SluicePipeline

/// A body that goes to a ``SpillFile``, as its loop sees it. Confined to that loop, unchecked for that reason.
final class SpilledBody: @unchecked Sendable {
  /// When the disk accepts nothing for this long, the bodies that wait for it fail.
  static let patience = Duration.seconds(30)

  private let loop: any EventLoop
  private let whenReady: () -> Void
  private lazy var file = SpillFile { [loop, weak self] in
    loop.post { [weak self] in self?.fileIsReady() }
  }
  private let watch = DiskWatch()
  private var failure: TransportError?

  /// - Parameter whenReady: called on the loop when the caller should ask again, after a call that could not finish.
  init(on loop: any EventLoop, whenReady: @escaping () -> Void) {
    self.loop = loop
    self.whenReady = whenReady
    watch.body = self
  }

  deinit { file.abandon() }

  /// Takes a piece; returns ``BodyProgress/pause`` when the disk is behind.
  func append(_ piece: [UInt8]) throws(TransportError) -> BodyProgress {
    if let failure { throw failure }
    if try file.append(piece) { return .proceed }
    watch.begin(on: loop)
    return .pause
  }

  /// The file, once all of it is on disk; nil until then.
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
      "the disk has taken nothing of a body for \(Self.patience); check the folder that TMPDIR names, or /tmp")
    whenReady()
  }
}

/// Watches whether the disk makes progress while a body waits for it. A separate object, because the loop keeps a
/// reference to the target of its timer.
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
