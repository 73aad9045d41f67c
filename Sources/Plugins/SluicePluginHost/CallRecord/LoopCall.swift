import CLinux
package import SluiceMessages

/// A call of a plugin that runs on an event loop, and blocks the loop until it returns.
package struct LoopCall: Sendable, Hashable {
  /// The loop's index in its engine.
  package var loop: Int
  /// A number that only this call has in the whole process.
  package var number: UInt64
  /// The instance's name in the configuration.
  package var stage: String
  /// The plugin's own id.
  package var plugin: String
  package var generation: Int
  /// The function of the plugin, as the headers of the ABI name it.
  package var callback: String
  /// Nil if the call belongs to no transaction.
  package var transaction: TransactionID?

  package init(
    loop: Int, number: UInt64, stage: String, plugin: String, generation: Int, callback: String,
    transaction: TransactionID?
  ) {
    self.loop = loop
    self.number = number
    self.stage = stage
    self.plugin = plugin
    self.generation = generation
    self.callback = callback
    self.transaction = transaction
  }

  /// Returns the calls that run on these loops now, at most one for each loop. Can be called on any thread, and does
  /// not disturb the loops.
  /// - Parameter loops: the indices of the loops, keyed by the loops themselves.
  package static func current(on loops: [ObjectIdentifier: Int]) -> [LoopCall] {
    var calls: [LoopCall] = []
    var next = sluice_call_records()
    while let record = next {
      if let call = LoopCall(record, loops) { calls.append(call) }
      next = UnsafePointer(record.pointee.next)
    }
    return calls
  }

  private init?(_ record: UnsafePointer<sluice_call_record>, _ loops: [ObjectIdentifier: Int]) {
    guard let address = sluice_loop_of_record(record) else { return nil }
    let known = loops.first { UInt(bitPattern: $0.key) == UInt(bitPattern: address) }
    let number = sluice_outermost_call(record)
    var call = sluice_call_frame()
    guard let loop = known?.value, number != 0, sluice_read_call(record, &call) != 0, let subject = call.subject else {
      return nil
    }
    let isOfTransaction = call.transaction_high != 0 || call.transaction_low != 0
    let id = TransactionID(randomHigh: call.transaction_high, randomLow: call.transaction_low)
    self.init(
      loop: loop, number: number, stage: String(cString: subject.pointee.stage),
      plugin: String(cString: subject.pointee.plugin), generation: Int(subject.pointee.generation),
      callback: UInt8(exactly: call.callback).flatMap(PluginCallback.init(rawValue:))?.name ?? "a function",
      transaction: isOfTransaction ? id : nil)
  }
}
