import CSluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The table `sluice.response-stream/1`.
enum ResponseStreamFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_response_stream> = {
    let table = UnsafeMutablePointer<sluice_response_stream>.allocate(capacity: 1)
    table.initialize(
      to: sluice_response_stream(
        size: UInt32(MemoryLayout<sluice_response_stream>.size), reserved: 0,
        open: { ResponseStreamFunctions.open($0, $1, $2, $3, $4) },
        write: { ResponseStreamFunctions.write($0, $1, $2) },
        end: { ResponseStreamFunctions.end($0, $1) }, fail: { ResponseStreamFunctions.fail($0, $1, $2, $3) }))
    return UnsafePointer(table)
  }()

  private static func open(
    _ handle: OpaquePointer?, _ length: UInt64, _ function: ResponseStream.Function?,
    _ context: UnsafeMutableRawPointer?, _ stream: UnsafeMutablePointer<sluice_stream>?
  ) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let function, let stream, length == .max || length <= UInt64(Int64.max) else {
      return called.refuse(.invalidArgument, "open of a response stream: a pointer is NULL, or the length is too large")
    }
    guard called.writesResponse, !called.call.pointee.isBlocking else {
      return called.refuse(.refusedWrite, "open of a response stream")
    }
    let instance = called.call.pointee.instance
    // The instance is destroyed only after the plugin was told that the stream is closed.
    instance.openWork.update { $0 += 1 }
    let made = instance.streams.add {
      ResponseStream($0, instance, on: called.exchange.loop, function, UncheckedPointer(context))
    }
    ExchangeBody.setStream(made.makeBody(length: length == .max ? nil : Int(length)), called)
    stream.pointee = made.id
    return Status.ok
  }

  private static func write(
    _ host: UnsafePointer<sluice_host>?, _ stream: sluice_stream, _ bytes: sluice_bytes
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), let found = handle.instance?.streams[stream] else { return Status.stale }
    guard let bytes = bytes.bytes, bytes.count <= ResponseStream.writeBytes else {
      handle.report(
        .invalidArgument, "write to a response stream: more than \(ResponseStream.writeBytes) bytes, or no address")
      return Status.invalid
    }
    return found.write(bytes)
  }

  private static func end(_ host: UnsafePointer<sluice_host>?, _ stream: sluice_stream) -> sluice_status {
    HostHandle.of(host)?.instance?.streams[stream]?.end(nil) ?? Status.stale
  }

  private static func fail(
    _ host: UnsafePointer<sluice_host>?, _ stream: sluice_stream, _ code: sluice_text, _ message: sluice_text
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), let found = handle.instance?.streams[stream] else { return Status.stale }
    let word = ExchangeAnswers.code(code)
    if word == nil { handle.report(.invalidArgument, ExchangeAnswers.codeRule) }
    let failure = StageFailure(code: word ?? StageFailure.defaultCode, message: PluginText.message(message))
    return found.end(TransactionError(failure, stage: handle.name))
  }
}
