import CLinux
import CSluice
import SluicePipeline

/// A call and its exchange.
struct CalledExchange {
  let call: Call
  /// A strong reference: the exchange is retained once for a function, and not at each use.
  let exchange: Exchange
}

extension CallContext {
  /// Returns the call with this name, and its exchange. If no call on this thread has the name, reports a violation and
  /// returns nil.
  @inline(__always)
  static func find(_ handle: OpaquePointer?) -> CalledExchange? {
    if let call = current, call.pointee.name == UInt(bitPattern: handle), let exchange = call.pointee.exchange {
      return CalledExchange(call: call, exchange: exchange)
    }
    return findEntered(handle)
  }

  /// Does the same as ``find(_:)`` without retaining the exchange; used by the functions that are called most often.
  @inline(__always)
  static func with(_ handle: OpaquePointer?, _ body: (CalledExchange) -> sluice_status) -> sluice_status {
    if let call = current, call.pointee.name == UInt(bitPattern: handle), let exchange = call.pointee.borrowedExchange {
      return exchange._withUnsafeGuaranteedRef { body(CalledExchange(call: call, exchange: $0)) }
    }
    guard let called = findEntered(handle) else { return misuse }
    return body(called)
  }

  /// Searches the exchanges that a posted function has entered: there can be several.
  @inline(never)
  private static func findEntered(_ handle: OpaquePointer?) -> CalledExchange? {
    var next = current
    while let call = next, call.pointee.scope == .entered {
      if call.pointee.name == UInt(bitPattern: handle), let exchange = call.pointee.exchange {
        return CalledExchange(call: call, exchange: exchange)
      }
      next = call.pointee.previous?.assumingMemoryBound(to: CallContext.self)
    }
    report(handle)
    return nil
  }

  private static func report(_ handle: OpaquePointer?) {
    let kind: Violation = current == nil ? .wrongThread : .keptExchange
    let name = UInt(bitPattern: handle)
    let named = name & 1 == 1 ? HostHandle.at(hostHandleIndex(of: name)) : nil
    // If the host has never given out the name, the violation counts for the instance of the current call.
    (named ?? current?.pointee.instance.hostHandle)?.report(kind)
  }

  /// The status that a function of the host returns to the plugin if ``find(_:)`` returns nil.
  static var misuse: sluice_status { current == nil ? Status.wrongThread : Status.stale }
}

extension CalledExchange {
  var phase: CallPhase { call.pointee.phase }

  /// Whether the host has the feature.
  func offers(_ feature: HostFeatures) -> Bool { call.pointee.instance.hostHandle.features.contains(feature) }

  /// Notes that the plugin called a function of a feature that the host does not offer, and returns its status.
  func lacks(_ feature: HostFeatures, _ function: String) -> sluice_status {
    call.pointee.instance.hostHandle.lacks(feature, function)
  }

  @inline(never)
  func refuse(_ kind: Violation, _ detail: String) -> sluice_status {
    let place = PluginCallback(rawValue: phase.rawValue).map { ", in \($0.name)" } ?? ""
    call.pointee.instance.hostHandle.report(kind, detail + place)
    return kind == .invalidArgument ? Status.invalid : Status.refused
  }

  /// Keeps an object alive until the call returns.
  func keep(_ object: AnyObject) { call.keep(object) }

  /// Keeps the bytes of an array at their address until the call returns. With this second reference, a change of the
  /// array copies it and leaves these bytes unchanged.
  func keep(_ bytes: [UInt8]) { keep(KeptBytes(bytes)) }

  /// Lends bytes until the call returns.
  func lend(_ bytes: consuming [UInt8]) -> UnsafeBufferPointer<UInt8> {
    let lent = LentBytes(bytes)
    keep(lent)
    return lent.bytes
  }

  func lend(_ text: String) -> sluice_text { sluice_text(lend(Array(text.utf8))) }
}

private final class KeptBytes {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// Bytes at an address that stays the same as long as this object exists.
final class LentBytes {
  private let memory: UnsafeMutableBufferPointer<UInt8>
  private var count = 0

  init(capacity: Int) { memory = .allocate(capacity: max(1, capacity)) }

  convenience init(_ source: [UInt8]) {
    self.init(capacity: source.count)
    count = memory.initialize(fromContentsOf: source)
  }

  deinit { memory.deallocate() }

  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: memory.baseAddress, count: count) }

  /// Appends a text, or a range of its UTF-8, which must fit into the capacity.
  func append(_ text: String, _ range: Range<Int>? = nil) -> sluice_text {
    var text = text
    return text.withUTF8 { all in
      let part = range.map { UnsafeBufferPointer(rebasing: all[$0]) } ?? all
      guard !part.isEmpty else { return .empty }
      let copy = UnsafeMutableBufferPointer(rebasing: memory[count...])
      count += copy.initialize(fromContentsOf: part)
      return sluice_text(UnsafeBufferPointer(rebasing: copy[..<part.count]))
    }
  }
}
