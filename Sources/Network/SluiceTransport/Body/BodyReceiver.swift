package import SluiceMessages
package import SluicePipeline

/// Takes the body of one response from the wire: checks its size, decodes it, and collects it or passes it on, as the
/// observer decides.
///
///     let receiver = BodyReceiver()
///     receiver.prepare(…)
///     receiver.begin(observer.transferDidReceiveHead(head))
///     receiver.take(piece, observer)          // for each piece, unless isHeldBack
///     let body = try receiver.finish()        // when the message is complete
///
/// Only the loop uses it. It calls the observer only while its owner calls it.
package final class BodyReceiver {
  /// The result of passing a piece to the receiver.
  package enum Taken {
    /// The whole piece was taken.
    case whole
    /// The piece was not taken, because the observer or the disk cannot accept it now. The caller must give the same
    /// piece again later.
    case nothing
    /// The transfer must end. Either ``failure`` says why, or ``isCut`` says that the rest of the body is not wanted.
    case end
  }

  /// An unwanted body up to this size is read to its end, because that is cheaper than a new connection.
  package static let discardBytes = 65_536

  // These four are copied from the transfer's options, because a copy of all options costs more.
  private var maximumResponseBytes = 0
  private var maximumStreamedBytes = 0
  private var spillBytes = 0
  private var tellsProgress = false
  /// Safe to be unowned: the owner lives until it has released the receiver or called `clear()`.
  private unowned(unsafe) var owner: (any BodyReceiverOwner)?
  /// The codings that must be decoded; nil for none.
  @exclusivity(unchecked) private var codings: ContentCodings?
  /// The length of the body on the wire, if the head says it.
  private var announcedBytes: Int?
  /// Whether the message itself says where the body ends.
  private var isEndKnown = false

  package private(set) var disposition = BodyDisposition.hold
  /// Why the body cannot be taken.
  package private(set) var failure: TransportError?
  /// Whether the body was cut short because its rest is not wanted. The transfer then ends as a success, but its
  /// connection cannot be used again.
  package private(set) var isCut = false
  /// The number of body bytes received on the wire.
  package private(set) var receivedBytes = 0
  @exclusivity(unchecked) private var collector: BodyCollector?
  /// The decoder of a coded body. It is made when the first byte arrives, unless the body is discarded.
  @exclusivity(unchecked) private var decoded: DecodedBody?
  /// Whether the observer wants a pause.
  private var isPausing = false
  /// Whether too much data of the body waits to be written to its file.
  private var isBehindDisk = false

  package init() {}

  /// Prepares the receiver for a body.
  ///
  /// - Parameters:
  ///   - codings: the codings that must be decoded.
  ///   - isEndKnown: whether the message itself says where the body ends: by a length, by chunks or by the end of a
  ///     stream.
  ///   - owner: told when a body that was held back can continue. The owner is not retained. Before it ends, it must
  ///     release the receiver or call ``clear()``.
  package func prepare(
    _ options: borrowing TransferOptions, codings: ContentCodings, announcedBytes: Int?, isEndKnown: Bool,
    owner: any BodyReceiverOwner
  ) {
    maximumResponseBytes = options.maximumResponseBytes
    maximumStreamedBytes = options.maximumStreamedBytes
    spillBytes = options.spillBytes
    tellsProgress = options.tellsProgress
    self.codings = codings.isEmpty ? nil : codings
    self.announcedBytes = announcedBytes
    self.isEndKnown = isEndKnown
    self.owner = owner
  }

  /// Forgets the body. Returns whether the receiver can be used for another body. If the body went to a file, it
  /// cannot, because the receiver would still get calls about the progress of that file.
  package func clear() -> Bool {
    owner = nil
    guard collector?.isSpilled != true else { return false }
    disposition = .hold
    if failure != nil { failure = nil }
    isCut = false
    receivedBytes = 0
    if collector != nil { collector = nil }
    if decoded != nil { decoded = nil }
    isPausing = false
    isBehindDisk = false
    return true
  }

  /// Whether the observer or the disk cannot accept a piece or the end now.
  package var isHeldBack: Bool {
    switch disposition {
    case .hold: true
    case .collect, .discard: isBehindDisk
    case .stream: isBehindDisk || isPausing
    }
  }

  /// Whether the observer has not decided yet what happens to the body.
  package var isUndecided: Bool {
    if case .hold = disposition { true } else { false }
  }

  private var isDiscarding: Bool {
    if case .discard = disposition { true } else { false }
  }

  /// Sets what happens to the body. Does nothing for ``BodyDisposition/hold``.
  package func begin(_ disposition: BodyDisposition) {
    self.disposition = disposition
    let announced = announcedBytes ?? 0
    switch disposition {
    case .hold: return
    case .discard: isCut = announced > Self.discardBytes
    case .collect:
      collector = BodyCollector(spillBytes: spillBytes, expectedBytes: codings == nil ? announced : 0)
    case .stream: break
    }
    if !isDiscarding, codings == nil, announced > maximumBytes { failure = tooLarge }
  }

  /// Takes a piece as it came from the wire.
  package func take(_ piece: UnsafeRawBufferPointer, _ observer: any TransferObserver) -> Taken {
    let taken = decode(piece, observer)
    if tellsProgress, case .whole = taken, !isDiscarding {
      observer.transferDidReceive(bodyBytes: receivedBytes, of: announcedBytes)
    }
    return taken
  }

  @inline(__always)
  private func decode(_ piece: UnsafeRawBufferPointer, _ observer: any TransferObserver) -> Taken {
    if failure != nil || isCut { return .end }
    if isHeldBack { return .nothing }
    guard let codings, !isDiscarding else {
      receivedBytes += piece.count
      return accept(piece, total: receivedBytes, observer) ? .whole : .end
    }
    deliverRest(observer)
    if failure != nil { return .end }
    if isHeldBack { return .nothing }
    receivedBytes += piece.count
    do throws(ContentDecodingError) {
      if decoded == nil { decoded = try DecodedBody(codings) }
      guard let body = decoded else { return .end }
      try body.decode(piece) { accept($0, total: body.byteCount, observer) && !isHeldBack }
    } catch { failure = undecodable(error) }
    return failure == nil ? .whole : .end
  }

  /// Called when the observer has ended its pause.
  package func resume() { isPausing = false }

  /// Called when the transfer was cancelled. The observer gets no more of the body.
  package func stop() {
    if failure == nil { failure = cancelled }
  }

  /// Whether decoded bytes are left that the observer did not want earlier.
  package var hasRest: Bool { decoded?.hasRest == true }

  /// Passes on decoded bytes that the observer did not want earlier.
  package func deliverRest(_ observer: any TransferObserver) {
    guard let body = decoded, body.hasRest, !isHeldBack, failure == nil else { return }
    do throws(ContentDecodingError) {
      try body.decodeRest { accept($0, total: body.byteCount, observer) && !isHeldBack }
    } catch { failure = undecodable(error) }
  }

  /// Ends the body. Call it when the message is complete and nothing is held back.
  ///
  /// - Returns: the collected body; ``Body/empty`` if it was streamed or discarded. Nil while a part of the body is not
  ///   on disk yet; the owner is told when all of it is.
  package func finish() throws(TransportError) -> Body? {
    if let codings, !isDiscarding { try check(codings) }
    guard collector != nil else { return .empty }
    return try collector?.finish()
  }

  private func check(_ codings: ContentCodings) throws(TransportError) {
    do throws(ContentDecodingError) {
      if let decoded {
        try decoded.finish()
      } else if !mayBeEmpty(codings) {
        try ContentDecoder(codings).finish()
      }
    } catch { throw undecodable(error) }
  }

  /// Whether a body of 0 bytes is accepted although it has codings.
  ///
  /// Some servers do not compress an empty body but leave `Content-Encoding` in place. This is accepted if the message
  /// says where the body ends: otherwise all of the body may have been lost. It is also accepted if a coding is unknown
  /// or there are too many codings.
  private func mayBeEmpty(_ codings: ContentCodings) -> Bool { isEndKnown || (try? codings.check()) == nil }

  private func accept(_ piece: UnsafeRawBufferPointer, total: Int, _ observer: any TransferObserver) -> Bool {
    guard total <= maximumBytes else {
      failure = tooLarge
      return false
    }
    switch disposition {
    case .hold: return false
    case .collect: return collect(piece)
    case .discard:
      isCut = receivedBytes > Self.discardBytes
      return !isCut
    case .stream:
      switch observer.transferDidReceive([UInt8](piece)) {
      case .proceed: break
      case .pause: isPausing = true
      case .stop: stop()
      }
      return failure == nil
    }
  }

  private func collect(_ piece: UnsafeRawBufferPointer) -> Bool {
    do throws(TransportError) {
      isBehindDisk = try collector?.append(piece) { spilledBody() } == .pause
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func spilledBody() -> SpilledBody {
    guard let owner else { preconditionFailure("a piece of a body came before prepare(…) was called") }
    return SpilledBody(on: owner.receivingLoop) { [weak self] in
      guard let self else { return }
      isBehindDisk = false
      self.owner?.bodyCanGoOn()
    }
  }

  /// A body that is not held in memory has a limit only if the caller set one.
  private var maximumBytes: Int {
    switch disposition {
    case .collect, .hold: maximumResponseBytes
    case .stream: maximumStreamedBytes
    case .discard: .max
    }
  }

  private var cancelled: TransportError { TransportError(.cancelled, "cancelled", to: owner?.receivingURL) }

  private var tooLarge: TransportError {
    TransportError(
      .responseTooLarge,
      "the response body is larger than the \(maximumBytes) bytes allowed; raise "
        + (owner?.settingNames ?? SettingNames()).maximumResponseBytes,
      to: owner?.receivingURL)
  }

  private func undecodable(_ error: ContentDecodingError) -> TransportError {
    let field = codings?.hasTransferCodings == true ? "Transfer-Encoding or Content-Encoding" : "Content-Encoding"
    // The reason can quote the name of a coding that the server has made up.
    let reason = PlainText.line(error.reason)
    return TransportError(
      .decoding, "the body cannot be decoded as its \(field) says: \(reason); only the server can fix it",
      to: owner?.receivingURL)
  }
}

/// The transfer to which a ``BodyReceiver`` belongs.
package protocol BodyReceiverOwner: AnyObject {
  var receivingLoop: any EventLoop { get }

  /// The URL of the request, for errors.
  var receivingURL: HTTPURL { get }
  /// The names of settings in errors.
  var settingNames: SettingNames { get }

  /// Called when the disk can take more, or has all of the body. The owner should then continue where it was held back.
  /// [loop]
  func bodyCanGoOn()
}
