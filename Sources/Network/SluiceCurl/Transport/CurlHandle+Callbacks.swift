import CCurl
import Glibc

// The functions that libcurl calls during a transfer. Each callback calls the transfer that has the handle.
extension CurlHandle {
  func setCallbacks() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    setDataCallbacks(context)
    setUploadCallbacks(context)
    setSocketCallbacks(context)
    sluice_easy_set_pointer(easy, CURLOPT_PREREQDATA, context)
    sluice_easy_set_prereq_function(easy) { context, _, _, _, localPort in
      guard let context else { return CURL_PREREQFUNC_ABORT }
      let isIssued = Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
        handle.borrowedTransfer.map { $0._withUnsafeGuaranteedRef { $0.willIssue(through: handle, from: localPort) } }
      }
      return isIssued == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }
  }

  /// Makes libcurl report the heads that it sends. This costs some time.
  func setHeadCallback() {
    sluice_easy_set_pointer(easy, CURLOPT_DEBUGDATA, Unmanaged.passUnretained(self).toOpaque())
    sluice_easy_set_debug_function(easy) { _, kind, data, size, context in
      guard kind == CURLINFO_HEADER_OUT, let context else { return 0 }
      let head = Array(UnsafeRawBufferPointer(start: data, count: size))
      Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.didSend(head) }
      return 0
    }
    sluice_easy_set_long(easy, CURLOPT_VERBOSE, 1)
  }

  private func setDataCallbacks(_ context: UnsafeMutableRawPointer) {
    sluice_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
    sluice_easy_set_data_function(easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
      let line = UnsafeRawBufferPointer(start: data, count: size * count)
      return CurlHandle.with(context) { $0.didReceiveHeaderLine(line) } ?? 0
    }
    sluice_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
    sluice_easy_set_data_function(easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
      let piece = UnsafeRawBufferPointer(start: data, count: size * count)
      return CurlHandle.with(context) { $0.didReceiveBody(piece) } ?? 0
    }
    // With this option, libcurl also passes header lines to the body function, and does so before it processes them.
    if CurlLibrary.foldsIntoFreedHeaders { sluice_easy_set_long(easy, CURLOPT_HEADER, 1) }
  }

  private func setUploadCallbacks(_ context: UnsafeMutableRawPointer) {
    sluice_easy_set_pointer(easy, CURLOPT_READDATA, context)
    sluice_easy_set_data_function(easy, CURLOPT_READFUNCTION) { data, size, count, context in
      let buffer = UnsafeMutableRawBufferPointer(start: data, count: size * count)
      return CurlHandle.with(context) { $0.provideBody(buffer) } ?? Int(CURL_READFUNC_ABORT)
    }
    sluice_easy_set_pointer(easy, CURLOPT_SEEKDATA, context)
    sluice_easy_set_seek_function(easy) { context, offset, origin in
      guard origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
      let isDone = CurlHandle.with(context) { $0.seekBody(to: Int(offset)) }
      return isDone == true ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
    }
  }

  private func setSocketCallbacks(_ context: UnsafeMutableRawPointer) {
    sluice_easy_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
    sluice_easy_set_open_function(easy) { context, _, address in
      guard let context, let address else { return curl_socket_t(-1) }
      return Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
        let wanted = address.pointee
        let descriptor = handle.multi.open(wanted.family, wanted.socktype, wanted.protocol)
        if descriptor < 0 { handle.socketError = errno } else { handle.opened.append(descriptor) }
        return descriptor
      }
    }
    // A connection can exist longer than the handle that opened it, so the multi handle closes the socket.
    sluice_easy_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(multi).toOpaque())
    sluice_easy_set_close_function(easy) { context, descriptor in
      guard let context else { return Glibc.close(descriptor) }
      return Unmanaged<CurlMulti>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.close(descriptor) }
    }
  }

  @inline(__always)
  private static func with<Result>(
    _ context: UnsafeMutableRawPointer?, _ body: (CurlTransfer) -> Result
  ) -> Result? {
    guard let context else { return nil }
    return Unmanaged<CurlHandle>.fromOpaque(context)._withUnsafeGuaranteedRef { handle in
      handle.borrowedTransfer.map { $0._withUnsafeGuaranteedRef(body) }
    }
  }
}
