import CCurl
import SluiceMessages
import SluicePipeline

extension CurlHandle {
  /// The times of the phases, as libcurl has measured them. They are complete when the transfer has ended.
  /// - Parameter hasIssued: whether the request was sent. Before that, libcurl may still report the times of the
  ///   previous transfer.
  func timings(hasIssued: Bool) -> TransferTimings {
    var timings = TransferTimings()
    let total = totalTime
    guard hasIssued || total != previousTotal else { return timings }
    let ready = time(CURLINFO_PRETRANSFER_TIME_T)
    let firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
    timings.isConnectionReused = sluice_easy_get_long(easy, CURLINFO_NUM_CONNECTS) == 0 && ready > 0
    if !timings.isConnectionReused { addConnectTimes(to: &timings) }
    if firstByte > 0 {
      timings.wait = .microseconds(max(0, firstByte - ready))
      timings.receive = .microseconds(max(0, total - firstByte))
    }
    timings.peerAddress = sluice_easy_get_text(easy, CURLINFO_PRIMARY_IP).flatMap {
      $0.pointee == 0 ? nil : String(cString: $0)
    }
    timings.bytesSent = bytesSent
    timings.bytesReceived = Int(sluice_easy_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T))
    return timings
  }

  /// The number of sent bytes of head and body. Libcurl sends a body in memory of less than 64 KiB together with the
  /// head, and counts it twice, as a part of the head and as the body. This number counts it once.
  private var bytesSent: Int {
    let head = sluice_easy_get_long(easy, CURLINFO_REQUEST_SIZE)
    let body = Int(sluice_easy_get_offset(easy, CURLINFO_SIZE_UPLOAD_T))
    let isPartOfHead = !bodyBytes.isEmpty && bodyBytes.count < 64 << 10 && head > body
    return isPartOfHead ? head : head + body
  }

  private func addConnectTimes(to timings: inout TransferTimings) {
    let name = time(CURLINFO_NAMELOOKUP_TIME_T)
    let connected = time(CURLINFO_CONNECT_TIME_T)
    let secured = time(CURLINFO_APPCONNECT_TIME_T)
    // Names are looked up by this module before libcurl gets the transfer, except names that only libcurl can resolve.
    let isLookedUpHere = route?.isLookedUpByLibcurl != true
    timings.nameLookup = .microseconds(isLookedUpHere ? 0 : name)
    timings.connect = .microseconds(max(0, isLookedUpHere ? connected : connected - name))
    timings.tlsHandshake = .microseconds(max(0, secured - connected))
  }

  var totalTime: Int { time(CURLINFO_TOTAL_TIME_T) }

  /// The time at which the transfer reached a point, in microseconds since its beginning; 0 if it did not reach the
  /// point.
  private func time(_ info: CURLINFO) -> Int { Int(sluice_easy_get_offset(easy, info)) }
}
