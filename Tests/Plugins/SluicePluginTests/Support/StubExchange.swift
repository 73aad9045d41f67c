import CJansson
import CSluice
import Dispatch
import SluiceJSON
import SluiceSupport
import SluiceTestKit
import Synchronization

/// The exchange of one attempt, held in memory. A plugin uses it through the C table for exchanges.
///
/// `@unchecked Sendable`: it is used only on the queue of its host. `isLent` says when a plugin may use it.
final class StubExchange: @unchecked Sendable {
  struct Side {
    var fields: [(name: String, value: String)] = []
    var body: [UInt8]?
    var document: JSONValue?
  }

  private static let known = Locked<[UInt: StubExchange]>([:])
  private static let nextName = Atomic<UInt>(0x1000)

  let name: UInt
  var sides = [Side(), Side()]
  var method = "GET"
  var url = "https://api.example.com/v1/items?x=1"
  var status: UInt32 = 0
  var context = sluice_context()
  var failure: (code: String, message: String)?
  var retryDelay: UInt64?
  /// What `challenge_answer` returns. `credentials` has the arguments that `challenge_answer` got.
  var challengeVerdict = sluice_verdict(SLUICE_VERDICT_CONTINUE)
  var credentials: [String] = []
  var sensitive: [String] = []
  /// What `may_call` returns for a kind of call. For kinds that are not listed, it returns OK.
  var permissions: [sluice_call_kind: Int] = [:]
  /// The headers that the hop sent, by lower-case name. Empty before the hop was issued.
  var issued: [String: String] = [:]
  /// The instance's data, and its release function; see `data_set`.
  private(set) var data: UnsafeMutableRawPointer?
  private var release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
  /// Whether a call is running. Only then may the plugin use the exchange.
  var isLent = false
  var token: sluice_token?
  var mayBeSuspended = true
  /// The number of accesses outside of a call.
  var violations = 0
  let resumption = Watched<sluice_verdict?>(nil)
  let isGone = Watched(false)
  /// The memory of lent texts. It is freed with the exchange.
  private var lent: [UnsafeMutableRawPointer] = []

  init() {
    let name = Self.nextName.add(1, ordering: .relaxed).newValue
    self.name = name
    context.size = UInt32(MemoryLayout<sluice_context>.size)
    context.remaining_ns = .max
    Self.known.withLock { $0[name] = self }
  }

  deinit {
    for text in lent { text.deallocate() }
  }

  /// Replaces the data, and releases the previous data. The end of the transaction calls this with nil.
  func keep(_ data: UnsafeMutableRawPointer?, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) {
    if let old = self.data { self.release?(old) }
    self.data = data
    self.release = release
  }

  var pointer: OpaquePointer? { OpaquePointer(bitPattern: name) }

  /// Returns the exchange that a pointer names. Outside of a call, it returns nil and counts a violation.
  static func lent(_ pointer: OpaquePointer?) -> StubExchange? {
    guard let exchange = known.withLock({ $0[UInt(bitPattern: pointer)] }) else { return nil }
    guard exchange.isLent else {
      exchange.violations += 1
      return nil
    }
    return exchange
  }

  static func suspended(by token: sluice_token) -> StubExchange? {
    known.withLock { $0[UInt(token.nonce)] }
  }

  func header(_ side: sluice_side, _ name: String) -> String? {
    sides[Int(side)].fields.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  func remove(_ side: sluice_side, _ name: String) {
    sides[Int(side)].fields.removeAll { $0.name.lowercased() == name.lowercased() }
  }

  /// Stores a value for the lifetime of the exchange.
  func keep<Value>(_ value: Value) -> UnsafePointer<Value> {
    let place = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    place.initialize(to: value)
    lent.append(UnsafeMutableRawPointer(place))
    return UnsafePointer(place)
  }

  func lend(_ bytes: some Collection<UInt8>) -> sluice_text {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
    copy.copyBytes(from: bytes)
    if let base = copy.baseAddress { lent.append(base) }
    return sluice_text(data: copy.baseAddress?.assumingMemoryBound(to: CChar.self), size: bytes.count)
  }
}

extension String {
  init(stub text: sluice_text) {
    self = String(decoding: UnsafeRawBufferPointer(start: text.data, count: text.size), as: UTF8.self)
  }
}
