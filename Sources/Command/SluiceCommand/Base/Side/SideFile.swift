import Glibc
import SluiceSupport

/// A file that gets a text for each item. A separate thread makes the texts and writes them, so that no event loop
/// waits for the disk, or for a text that takes long to create.
///
/// After each write the file is complete: the closing text follows the last item, and the next items are written over
/// it. If the process is killed, the file can therefore still be read.
final class SideFile<Item: Sendable>: Sendable {
  /// The texts around and between the items.
  struct Frame: Sendable {
    var opening: [UInt8] = []
    var separator: [UInt8] = []
    var closing: [UInt8] = []
  }

  private struct State {
    var pending: [Item] = []
    var pendingBytes = 0
    var isWriterIdle = false
    var isFinishing = false
    var wasFull = false
    var failure: ByteOutput.Failure?
  }

  /// Where the writer writes next. Only the writer's thread uses it.
  private struct Place {
    /// Where the closing text begins.
    var end: Int
    var isFirst = true
  }

  private let highWaterBytes = 4 << 20
  /// If fewer bytes are pending, the writer waits a moment for more, so that small items cost few wake-ups and writes.
  private let worthwhileBytes = 64 << 10
  private let lingerNanoseconds = 1_000_000

  private let name: String
  private let descriptor: Int32
  private let frame: Frame
  private let make: @Sendable (Item) -> [UInt8]
  private let state = Monitor(State())
  private let listener = Locked<ByteOutput.Listener?>(nil)
  private let ended = Monitor(false)

  /// Takes ownership of the descriptor of an empty regular file.
  /// - Parameter make: makes the text of an item, on the writer's thread.
  init(
    owning descriptor: Int32, name: String, _ frame: Frame, _ make: @escaping @Sendable (Item) -> [UInt8]
  ) throws(CommandError) {
    self.descriptor = descriptor
    self.name = name
    self.frame = frame
    self.make = make
    do throws(ByteOutput.Failure) { try write(frame.opening + frame.closing, at: 0) } catch {
      close(descriptor)
      throw CommandError(.failed, error.description)
    }
    try SystemThread.begin("sluice-side") { [self] in
      writeAll()
      ended.update { $0 = true }
    }.detach()
  }

  /// Must be called before the first item.
  func listen(_ listener: ByteOutput.Listener) { self.listener.withLock { $0 = listener } }

  var hasRoom: Bool { state.withLock { !$0.wasFull || $0.failure != nil } }

  /// Takes the item in any case, even if there is no room. Can be called on any thread.
  /// - Parameter bytes: roughly how much memory the item holds.
  func append(_ item: Item, bytes: Int) {
    let wakes = state.withLock { state in
      guard state.failure == nil else { return false }
      state.pending.append(item)
      state.pendingBytes += bytes
      if state.pendingBytes >= highWaterBytes { state.wasFull = true }
      defer { state.isWriterIdle = false }
      return state.isWriterIdle
    }
    if wakes { state.broadcast() }
  }

  /// Writes the remaining items and closes. Returns any failure since the beginning. Call it once.
  func finish() -> ByteOutput.Failure? {
    state.update { $0.isFinishing = true }
    ended.wait { $0 ? () : nil }
    let earlier = state.withLock { $0.failure }
    var status = stat()
    let isRemoved = fstat(descriptor, &status) == 0 && status.st_nlink == 0
    guard close(descriptor) == 0 else { return earlier ?? ByteOutput.Failure(name: name, errorNumber: errno) }
    return earlier ?? (isRemoved ? ByteOutput.Failure(name: name, errorNumber: ENOENT, isRemoved: true) : nil)
  }

  // MARK: The writer

  private func writeAll() {
    var place = Place(end: frame.opening.count)
    while let items = take() {
      do throws(ByteOutput.Failure) { try write(items, &place) } catch { return fail(error) }
    }
  }

  /// Waits for items. Returns nil when the file is finished and no items are left.
  private func take() -> [Item]? {
    let isWorthwhile: Bool = state.wait { state in
      if state.isFinishing || state.pendingBytes >= worthwhileBytes { return true }
      if !state.pending.isEmpty { return false }
      state.isWriterIdle = true
      return nil
    }
    if !isWorthwhile {
      var pause = timespec(tv_sec: 0, tv_nsec: lingerNanoseconds)
      nanosleep(&pause, nil)
    }
    let (items, makesRoom) = state.withLock { state in
      defer { (state.pending, state.pendingBytes, state.wasFull) = ([], 0, false) }
      return (state.pending, state.wasFull)
    }
    if makesRoom { listener.withLock { $0 }?.onRoom() }
    return items.isEmpty ? nil : items
  }

  private func write(_ items: [Item], _ place: inout Place) throws(ByteOutput.Failure) {
    var text: [UInt8] = []
    for (index, item) in items.enumerated() {
      if !place.isFirst { text += frame.separator }
      place.isFirst = false
      text += make(item)
      guard text.count >= highWaterBytes || index == items.count - 1 else { continue }
      do throws(ByteOutput.Failure) { try write(text + frame.closing, at: place.end) } catch {
        restore(place.end)
        throw error
      }
      place.end += text.count
      text.removeAll(keepingCapacity: true)
    }
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(ByteOutput.Failure) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress?.advanced(by: written), bytes.count - written, off_t(offset + written))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw ByteOutput.Failure(name: name, errorNumber: count < 0 ? errno : EIO) }
      written += count
    }
  }

  /// Cuts off an incomplete item. A full disk does not prevent this, because a closing text already occupied this
  /// position.
  private func restore(_ end: Int) {
    guard (try? write(frame.closing, at: end)) != nil else { return }
    _ = ftruncate(descriptor, off_t(end + frame.closing.count))
  }

  private func fail(_ failure: ByteOutput.Failure) {
    state.withLock { state in
      state.failure = failure
      (state.pending, state.pendingBytes) = ([], 0)
    }
    listener.withLock { $0 }?.onFailure(failure)
  }
}
