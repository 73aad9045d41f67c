import CCurl
import CRefusedStreams
import SluiceLocks

/// Tells transfers that their server refused the stream, which libcurl does not say.
enum RefusedStreams {
  /// The handles of all transports that may use HTTP/2: the streams of other users of libcurl are left alone.
  private static let handles = Locked<Set<UInt>>([])

  /// Begins to watch; once for the process.
  static func watch() {
    let handler: sluice_refused_stream_handler = { easy in
      guard let easy, RefusedStreams.handles.withLock({ $0.contains(UInt(bitPattern: easy)) }),
        let context = sluice_easy_get_private(UnsafeMutableRawPointer(mutating: easy))
      else { return }
      // On the loop: it is the loop's call into libcurl that reads from the connection.
      Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.transfer?.isRefused = true }
    }
    sluice_watch_refused_streams(handler, sluice_curl_address())
  }

  static func add(_ easy: UnsafeMutableRawPointer) {
    handles.withLock { _ = $0.insert(UInt(bitPattern: easy)) }
  }

  static func remove(_ easy: UnsafeMutableRawPointer) {
    handles.withLock { _ = $0.remove(UInt(bitPattern: easy)) }
  }
}
