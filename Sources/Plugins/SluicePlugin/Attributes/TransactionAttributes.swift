import CSluice
public import SluiceMessages

/// Typed values on a transaction, which its other stages and tracers see, and which results, the event log and log
/// records show (`sluice.attributes/1`, a draft).
///
/// The values exist until the end of the transaction, over all attempts and hops; the last value set for a name counts.
/// Names are like `http.route`: 1 to 128 letters, digits, `.`, `_` and `-`, the first of them a letter. A transaction
/// has at most 64 attributes, and a text at most 4096 bytes. The attributes can be used as long as the ``StageRequest``
/// of the same call can be used. A host without the table has no attributes.
public struct TransactionAttributes: Sendable {
  /// nil for a delegate of the program, which has no attributes.
  let call: ExchangeCall?

  /// The value of that name; nil if it was never set, or was removed. Setting nil removes it. A value that the host
  /// refuses fails the call.
  public subscript(name: String) -> AttributeValue? {
    get { record(name)?.value }
    nonmutating set {
      call?.attempt { () throws(StageFailure) in
        if let newValue { try set(name, newValue) } else { try remove(name) }
      }
    }
  }

  /// Sets a value.
  /// - Parameter isSensitive: whether the value is a secret, which is shown as `REDACTED` everywhere except to stages.
  /// - Returns: false if the transaction has too many attributes, or if the host does not offer them.
  /// - Throws: ``StageFailure`` if the name or the value is not allowed. Also throws in a tracer, because tracers
  ///   cannot set attributes.
  @discardableResult
  public func set(
    _ name: String, _ value: AttributeValue, isSensitive: Bool = false
  ) throws(StageFailure) -> Bool {
    guard let call else { return false }
    return try call.write("the attribute \"\(name)\"") { _, exchange in
      guard let table = call.link.attributes else { return sluice_status(SLUICE_STATUS_UNSUPPORTED) }
      return Attribute.lend(CollectionOfOne(Attribute(name, value, isSensitive: isSensitive))) {
        table.pointee.set(exchange, $0.baseAddress)
      }
    }
  }

  /// All names, in the order in which they were first set.
  public var names: [String] {
    var names: [String] = []
    call?.withExchange { [call] _, exchange in
      var raw = sluice_attribute()
      while call?.link.attributes?.pointee.at(exchange, names.count, &raw) == 0 { names.append(String(raw.name)) }
    }
    return names
  }

  /// Whether the value of that name is a secret.
  public func isSensitive(_ name: String) -> Bool { record(name)?.isSensitive ?? false }

  private func remove(_ name: String) throws(StageFailure) {
    try call?.write("the attribute \"\(name)\"") { _, exchange in
      guard let table = call?.link.attributes else { return sluice_status(SLUICE_STATUS_UNSUPPORTED) }
      return withText(name) { table.pointee.remove(exchange, $0) }
    }
  }

  private func record(_ name: String) -> Attribute? {
    call?.withExchange { _, exchange in
      var raw = sluice_attribute()
      let status = withText(name) { call?.link.attributes?.pointee.get(exchange, $0, &raw) }
      return status == 0 ? Attribute(raw) : nil
    } ?? nil
  }
}

/// Two values are equal if they belong to the same call.
extension TransactionAttributes: Hashable {
  /// Compares the calls by identity, not the values. Two values without a call, such as the values that delegates get,
  /// are equal.
  public static func == (left: TransactionAttributes, right: TransactionAttributes) -> Bool { left.call === right.call }

  /// Hashes the identity of the call, not the values.
  public func hash(into hasher: inout Hasher) { hasher.combine(call.map { ObjectIdentifier($0) }) }
}
