import CCurl
import CStreamEvents
import SluicePipeline
import SluiceTransport
import SluiceSupport

/// Tells transfers what happens to their HTTP/2 streams, because libcurl does not.
enum StreamEvents {
  /// The handles of all transports that may use HTTP/2. Streams of other code that uses libcurl are ignored.
  private static let handles = Locked<Set<UInt>>([])

  /// Begins to watch the streams of the process. Further calls do nothing.
  static func watch() { watching }

  private static let watching: Void = {
    let handler: sluice_stream_handler = { easy, event in
      guard let easy, StreamEvents.handles.withLock({ $0.contains(UInt(bitPattern: easy)) }),
        let context = sluice_easy_get_private(UnsafeMutableRawPointer(mutating: easy))
      else { return 0 }
      // This runs on the loop, because libcurl reads from a connection only when the loop calls it.
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
    /// Whether the request was sent on an HTTP/2 stream.
    var hasBegun = false
    /// Whether the server has sent the whole response.
    var hasEnded = false
    /// Whether the server has stopped reading the request.
    var isReset = false
    /// Whether the server has reported that it did not process the request.
    var isRefused = false
    /// Whether the response is cut short, although the server reported no error.
    var isCutShort: Bool { isReset && !hasEnded }
    /// Whether the response is not complete.
    var isOpen: Bool { hasBegun && !hasEnded }
  }

  /// Handles an event. Returns whether the event must be hidden from libcurl. If a reset follows a complete response,
  /// it is hidden, because libcurl would report it as an error, or lose the end of the body. [within libcurl]
  fileprivate func streamIsHidden(_ event: sluice_stream_event) -> Bool {
    switch event {
    case SLUICE_STREAM_BEGUN: stream.hasBegun = true
    case SLUICE_STREAM_ENDED: stream.hasEnded = true
    case SLUICE_STREAM_RESET:
      stream.isReset = true
      return stream.hasEnded
    case SLUICE_STREAM_REFUSED: stream.isRefused = true
    default:
      // Without this failure, libcurl would open a connection and send the request again.
      if failure == nil { failure = .downgraded(request, transport.settings.names) }
      transport.postpone(self)
    }
    return false
  }
}
