import CLinux
import CSluice
import SluicePipeline

typealias Call = UnsafeMutablePointer<CallContext>

/// A call of a plugin that is under way on this thread, and the one exchange that it may touch.
///
/// The contexts of a thread form a stack that begins in a thread-local pointer. A `sluice_exchange *` is the name of a
/// context: it is compared, and never dereferenced.
struct CallContext {
  enum Scope: UInt8 {
    /// A function in one of the plugin's tables.
    case call
    /// A posted function; it has no exchange until it enters one.
    case posted
    /// An exchange that a posted function entered. This context is on the heap until the function returns.
    case entered
  }

  /// Unique in the process; see ``makeName(of:)``.
  let name: UInt
  let scope: Scope
  let phase: CallPhase
  /// Whether the call runs on a thread of the pool, with a copy of the exchange.
  var isBlocking = false
  /// Whether the call is `on_trailer`, which must not suspend.
  var isTrailer = false
  /// Whether the plugin has called `respond`.
  var hasResponded = false
  /// Whether values for the verdict are stored in the instance's record, for example by `fail`, `retry` or `want_body`.
  var hasDetails = false
  /// The called instance. The code that makes the call keeps it alive; in an entered exchange, ``kept`` does.
  unowned(unsafe) let instance: PluginInstance
  /// The exchange of the call; nil in a posted function. It is kept alive in the same way as the instance.
  var borrowedExchange: Unmanaged<Exchange>?
  var previous: UnsafeMutableRawPointer?
  /// The token that the plugin has taken in this call. In an entered exchange: the token with which it was entered.
  var token: SuspensionToken?
  /// The token that the host took itself before the call, because the call had to wait for its turn.
  var offeredToken: SuspensionToken?
  /// The bytes that the plugin writes with `body_write`.
  var output: UnsafeMutablePointer<[UInt8]>?
  /// The objects that are lent to the plugin until the call returns; nil if there are none. They are retained by hand:
  /// ``releaseKept()`` must be called once, after the call. Because a context has no managed references, making and
  /// ending it costs nothing.
  var kept: Unmanaged<KeptObjects>?
  /// In an entered exchange: the value that `stage` had when the call was suspended.
  var enteredStage: UnsafeMutableRawPointer?
  /// One bit for each side of the exchange: set if texts of this side's fields were lent to the plugin.
  var lentFields: UInt8 = 0

  init(_ instance: PluginInstance, _ exchange: Exchange?, _ phase: CallPhase, scope: Scope = .call) {
    name = Self.makeName(of: instance.hostHandle.index)
    self.instance = instance
    borrowedExchange = exchange.map { .passUnretained($0) }
    self.phase = phase
    self.scope = scope
  }

  var exchange: Exchange? { borrowedExchange?.takeUnretainedValue() }

  /// Makes the name of a new call.
  ///
  /// Bits 40 and above have the number of the instance's host handle, and bits 1 to 39 the number of the call. Bit 0 is
  /// set, so that a name differs from the address of any aligned object.
  static func makeName(of hostHandle: Int) -> UInt {
    UInt(truncatingIfNeeded: hostHandle) << 40 | UInt(sluice_next_call_number() & 0x7F_FFFF_FFFF) << 1 | 1
  }

  static func hostHandleIndex(of name: UInt) -> Int { Int(name >> 40) }

  /// The context of the innermost call on this thread.
  @inline(__always)
  static var current: Call? { sluice_current_call()?.assumingMemoryBound(to: CallContext.self) }

  /// Makes the context the innermost one while the body runs.
  @inline(__always)
  static func push<Result>(_ context: inout CallContext, _ body: (Call) -> Result) -> Result {
    let previous = sluice_current_call()
    context.previous = previous
    context.instance.subject.begin(context.name, context.phase.rawValue, context.borrowedExchange)
    // Without a stack protector, which would be checked in each call: the plugin never gets this address.
    return _withUnprotectedUnsafeMutablePointer(to: &context) { call in
      sluice_set_current_call(call)
      defer {
        sluice_set_current_call(previous)
        sluice_end_call()
        if call.pointee.kept != nil { call.releaseKept() }
      }
      return body(call)
    }
  }
}

/// The objects of ``CallContext/kept``.
final class KeptObjects {
  private let first: AnyObject
  /// The further objects. The first object is stored separately, because most calls keep only one and need no array.
  private var rest: [AnyObject] = []

  fileprivate init(_ first: AnyObject) { self.first = first }

  fileprivate func append(_ object: AnyObject) { rest.append(object) }
}

extension Call {
  /// Keeps an object alive until the call returns.
  func keep(_ object: AnyObject) {
    if let kept = pointee.kept {
      kept._withUnsafeGuaranteedRef { $0.append(object) }
    } else {
      pointee.kept = .passRetained(KeptObjects(object))
    }
  }

  @inline(never)
  fileprivate func releaseKept() {
    let kept = pointee.kept
    pointee.kept = nil
    kept?.release()
  }
}

extension CallContext {
  /// Keeps an object alive until all calls on this thread that have this exchange have returned.
  static func keep(_ object: AnyObject, inCallsWith exchange: Exchange) {
    let name = Unmanaged.passUnretained(exchange).toOpaque()
    var next = current
    while let call = next {
      if call.pointee.borrowedExchange?.toOpaque() == name { call.keep(object) }
      next = call.pointee.previous?.assumingMemoryBound(to: CallContext.self)
    }
  }
}

// `stage` is a member of the pointer and not of the structure, because the structure would be copied to read it.
extension Call {
  /// The plugin's object for the place that is called; nil for a place without a configuration.
  var stage: UnsafeMutableRawPointer? {
    if pointee.scope == .entered { return pointee.enteredStage }
    guard pointee.phase != .event, let place = pointee.borrowedExchange?._withUnsafeGuaranteedRef({ $0.place }) else {
      return nil
    }
    return PluginPlace.object(of: place, for: pointee.instance)
  }
}

// Exchanges that posted functions enter.
extension CallContext {
  /// Whether this thread is running a posted function of that instance.
  static func isPosted(by instance: PluginInstance) -> Bool {
    guard let current else { return false }
    return current.pointee.scope != .call && current.pointee.instance === instance
  }

  /// Returns the name of the exchange that this posted function has entered with the token; nil if there is none.
  static func entered(_ token: SuspensionToken) -> UInt? {
    var next = current
    while let call = next, call.pointee.scope == .entered {
      if call.pointee.token == token, call.pointee.exchange != nil { return call.pointee.name }
      next = call.pointee.previous?.assumingMemoryBound(to: CallContext.self)
    }
    return nil
  }

  /// Puts an exchange on the stack until the posted function returns; returns its name.
  static func enter(
    _ exchange: Exchange, _ token: SuspensionToken, _ suspended: InstanceRecord.Suspension, _ instance: PluginInstance
  ) -> UInt {
    let call = Call.allocate(capacity: 1)
    call.initialize(to: CallContext(instance, exchange, suspended.phase, scope: .entered))
    call.pointee.enteredStage = suspended.stage
    call.pointee.token = token
    call.keep(exchange)
    call.keep(instance)
    call.pointee.previous = sluice_current_call()
    sluice_set_current_call(call)
    instance.subject.begin(call.pointee.name, PluginCallback.posted.rawValue, call.pointee.borrowedExchange)
    return call.pointee.name
  }

  /// Called after a resumption: the posted function must not use the exchange any more.
  static func leave(_ token: SuspensionToken) {
    var next = current
    while let call = next, call.pointee.scope == .entered {
      if call.pointee.token == token { call.pointee.borrowedExchange = nil }
      next = call.pointee.previous?.assumingMemoryBound(to: CallContext.self)
    }
  }

  /// Runs a posted function, and removes the exchanges that it entered from the stack.
  static func runPosted(_ instance: PluginInstance, _ body: () -> Void) {
    var context = CallContext(instance, nil, .posted, scope: .posted)
    push(&context) { base in
      body()
      while let call = current, call != base {
        sluice_set_current_call(call.pointee.previous)
        sluice_end_call()
        call.releaseKept()
        call.deallocate()
      }
    }
  }
}
