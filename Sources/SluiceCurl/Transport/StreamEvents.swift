import CCurl
import CStreamEvents
import SluicePipeline
import SluiceSupport

/// Tells transfers what becomes of their HTTP/2 streams, where libcurl does not say.
enum StreamEvents {
  /// The handles of all transports that may use HTTP/2: the streams of other users of libcurl are left alone.
  private static let handles = Locked<Set<UInt>>([])

  /// Begins to watch; once for the process, whoever asks for it.
  static func watch() { watching }

  private static let watching: Void = {
    let handler: sluice_stream_handler = { easy, event in
      guard let easy, StreamEvents.handles.withLock({ $0.contains(UInt(bitPattern: easy)) }),
        let context = sluice_easy_get_private(UnsafeMutableRawPointer(mutating: easy))
      else { return 0 }
      // On the loop: it is the loop's call into libcurl that reads from the connection.
      return Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
        handle.transfer?.streamIsHidden(event) == true ? 1 : 0
      }
    }
    sluice_watch_streams(handler, sluice_curl_address())
  }()

  static func add(_ easy: UnsafeMutableRawPointer) {
    handles.withLock { _ = $0.insert(UInt(bitPattern: easy)) }
  }

  static func remove(_ easy: UnsafeMutableRawPointer) {
    handles.withLock { _ = $0.remove(UInt(bitPattern: easy)) }
  }
}

extension CurlTransfer {
  /// What becomes of the stream.
  struct StreamState {
    /// The request went out as a stream.
    var hasBegun = false
    /// The server has sent the whole response.
    var hasEnded = false
    /// The server takes no more of the request.
    var isReset = false
    /// The server did not process the request, as it says itself.
    var isRefused = false
    /// The response breaks off, though without an error.
    var isCutShort: Bool { isReset && !hasEnded }
    /// The server had more to send.
    var isOpen: Bool { hasBegun && !hasEnded }
  }

  /// Returns whether libcurl is not to know. After a whole response it would take the reset for an error, or lose the end
  /// of the body over it. [within libcurl]
  fileprivate func streamIsHidden(_ event: sluice_stream_event) -> Bool {
    switch event {
    case SLUICE_STREAM_BEGUN: stream.hasBegun = true
    case SLUICE_STREAM_ENDED: stream.hasEnded = true
    case SLUICE_STREAM_RESET:
      stream.isReset = true
      return stream.hasEnded
    case SLUICE_STREAM_REFUSED: stream.isRefused = true
    default:
      // Libcurl would open a connection for sending it again.
      if failure == nil { failure = .downgraded(request, transport.settings.names) }
      transport.postpone(self)
    }
    return false
  }
}
