public import SluiceMessages
import SluicePipeline

/// The attributes of the transaction that a stage works on: typed values that its other stages see, and that results, event
/// logs and log lines show.
///
/// They live to the end of the transaction, over all attempts; the last setter wins. Only on the loop of the transaction,
/// where stages are called: elsewhere, and after the end, reading gives nothing and writing has no effect.
public struct TransactionAttributes: Sendable {
  private let exchange: Exchange

  init(_ exchange: Exchange) { self.exchange = exchange }

  /// The value of that name; nil without one. Setting nil removes it. A value that ``set(_:)`` refuses is not set.
  public subscript(name: String) -> AttributeValue? {
    get { all[name] }
    nonmutating set {
      if let newValue { set(Attribute(name, newValue)) } else if isUsable { exchange.attributes.remove(name) }
    }
  }

  /// Sets an attribute; false, and it is not set, for a name or a value that is not allowed, if the transaction has
  /// ``AttributeList/maximumCount`` others, and where they cannot be used.
  @discardableResult
  public func set(_ attribute: Attribute) -> Bool {
    isUsable && attribute.isValid && exchange.attributes.set(attribute)
  }

  /// All of them, in the order in which their names were first set.
  public var all: AttributeList { isUsable ? exchange.attributes : AttributeList() }

  private var isUsable: Bool { exchange.loop.isCurrent }
}
