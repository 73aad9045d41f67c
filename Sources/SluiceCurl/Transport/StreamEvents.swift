import CCurl
import CStreamEvents
import SluicePipeline
import SluiceTransport
import SluiceSupport

/// Tells transfers what happens to their HTTP/2 streams, because libcurl does not.
enum StreamEvents {
  /// The handles of all transports that may use HTTP/2: streams of other users of libcurl are ignored.
  private static let handles = Locked<Set<UInt>>([])

  /// Begins to watch, once for the process, however often it is called.
  static func watch() { watching }

  private static let watching: Void = {
    let handler: sluice_stream_handler = { easy, event in
      guard let easy, StreamEvents.handles.withLock({ $0.contains(UInt(bitPattern: easy)) }),
        let context = sluice_easy_get_private(UnsafeMutableRawPointer(mutating: easy))
      else { return 0 }
      // This runs on the loop, because the loop's call into libcurl reads from the connection.
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
  /// The state of a stream.
  struct StreamState {
    /// The request went out as a stream.
    var hasBegun = false
    /// The server has sent the whole response.
    var hasEnded = false
    /// The server reads no more of the request.
    var isReset = false
    /// The server has said that it did not process the request.
    var isRefused = false
    /// The response is cut short, although the server reported no error.
    var isCutShort: Bool { isReset && !hasEnded }
    /// The server had more to send.
    var isOpen: Bool { hasBegun && !hasEnded }
  }

  /// Returns whether to hide the event from libcurl. After a complete response, libcurl would report the reset as an
  /// error, or lose the end of the body. [within libcurl]
  fileprivate func streamIsHidden(_ event: sluice_stream_event) -> Bool {
    switch event {
    case SLUICE_STREAM_BEGUN: stream.hasBegun = true
    case SLUICE_STREAM_ENDED: stream.hasEnded = true
    case SLUICE_STREAM_RESET:
      stream.isReset = true
      return stream.hasEnded
    case SLUICE_STREAM_REFUSED: stream.isRefused = true
    default:
      // Libcurl would open a connection to send the request again.
      if failure == nil { failure = .downgraded(request, transport.settings.names) }
      transport.postpone(self)
    }
    return false
  }
}
