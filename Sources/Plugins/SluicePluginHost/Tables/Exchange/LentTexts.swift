import CSluice
import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// The texts of an exchange that `context`, `method_get` and `url_get` lend. The exchange keeps them until its method
/// or its URL changes, because most calls of a transaction ask for the same texts.
///
/// `@unchecked Sendable`: like the exchange itself, the texts are used only on the thread that runs the exchange's
/// calls.
final class LentTexts: @unchecked Sendable {
  let method: sluice_text
  let url: sluice_text
  let path: sluice_text
  /// The request's id and the caller's trace, which do not change. They are created when a plugin first asks for them,
  /// because creating a request id costs more than the other texts.
  private(set) var requestID = sluice_text.empty
  private(set) var traceparent = sluice_text.empty
  private(set) var tracestate = sluice_text.empty
  private(set) var baggage = sluice_text.empty
  private var identity: LentBytes?
  private let methodSource: String
  private let urlSource: String
  private let line: LentBytes

  private init(method: String, url: HTTPURL) {
    let path = url.pathSlice
    line = LentBytes(capacity: method.utf8.count + url.string.utf8.count + path.range.count)
    methodSource = method
    urlSource = url.string
    self.method = line.append(method)
    self.url = line.append(url.string)
    self.path = line.append(path.string, path.range)
  }

  /// The texts of the request's native form, valid until the call returns.
  static func of(_ called: CalledExchange) -> LentTexts {
    let exchange = called.exchange
    let known = exchange.lentTexts.map { unsafeDowncast($0, to: LentTexts.self) }
    if let known, known.matches(exchange) {
      // A posted function keeps the texts: while it uses them, the exchange can continue and drop them.
      if called.call.pointee.scope != .call { called.keep(known) }
      return known
    }
    // A plugin that got the old texts may use them until its call returns. This includes the plugin of an outer call: a
    // tracer can be called during the call of a stage.
    if let known { CallContext.keep(known, inCallsWith: exchange) }
    let texts = LentTexts(method: exchange.requestForms.native.method, url: exchange.requestForms.native.url)
    exchange.lentTexts = texts
    if called.call.pointee.scope != .call { called.keep(texts) }
    return texts
  }

  private func matches(_ exchange: Exchange) -> Bool {
    methodSource == exchange.requestForms.native.method && urlSource == exchange.requestForms.native.url.string
  }

  /// Makes the texts of the request's id and of the caller's trace if they do not exist yet.
  @inline(__always)
  func addIdentity(of exchange: Exchange) {
    if identity == nil { makeIdentity(of: exchange) }
  }

  @inline(never)
  private func makeIdentity(of exchange: Exchange) {
    let parent = exchange.parent
    let (id, parentText) = (exchange.requestID, parent.traceparent ?? "")
    let (state, members) = (parent.tracestate ?? "", parent.baggage ?? "")
    let memory = LentBytes(capacity: id.utf8.count + parentText.utf8.count + state.utf8.count + members.utf8.count)
    requestID = memory.append(id)
    traceparent = memory.append(parentText)
    tracestate = memory.append(state)
    baggage = memory.append(members)
    identity = memory
  }
}
