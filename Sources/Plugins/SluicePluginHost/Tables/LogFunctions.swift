import CSluice
import SluiceMessages
import SluicePipeline

/// The table `sluice.log/1`.
enum LogFunctions {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_logger> = {
    let table = UnsafeMutablePointer<sluice_logger>.allocate(capacity: 1)
    table.initialize(
      to: sluice_logger(
        size: UInt32(MemoryLayout<sluice_logger>.size), reserved: 0,
        is_enabled: { LogFunctions.isEnabled($0, $1) }, write: { LogFunctions.write($0, $1) }))
    return UnsafePointer(table)
  }()

  private static func isEnabled(_ host: UnsafePointer<sluice_host>?, _ level: sluice_log_level) -> sluice_status {
    guard let handle = HostHandle.of(host) else { return Status.closing }
    guard let level = PluginLogEntry.Level(rawValue: level) else {
      handle.report(.invalidArgument, "is_enabled: level \(level)")
      return Status.invalid
    }
    return level >= handle.minimumLogLevel ? Status.ok : Status.absent
  }

  private static func write(
    _ host: UnsafePointer<sluice_host>?, _ record: UnsafePointer<sluice_log_record>?
  ) -> sluice_status {
    guard let handle = HostHandle.of(host), handle.runtime != nil else { return Status.closing }
    guard let record, record.pointee.size >= SLUICE_LOG_RECORD_SIZE_1 else {
      return refuse(handle, "a log record without its size")
    }
    guard let level = PluginLogEntry.Level(rawValue: record.pointee.level) else {
      return refuse(handle, "a log record of the level \(record.pointee.level)")
    }
    guard level >= handle.minimumLogLevel else { return Status.ok }
    guard let message = PluginText.line(record.pointee.message) else {
      return refuse(handle, "a log record whose message has no address")
    }
    var attributes: AttributeList
    do throws(Attribute.Refusal) { attributes = try Self.attributes(of: record.pointee) } catch {
      return refuse(handle, "log record: \(error.reason)")
    }
    guard let exchange = record.pointee.exchange else {
      handle.write(level, message, attributes)
      return Status.ok
    }
    return CallContext.with(exchange) { called in
      attributes.addMissing(from: called.exchange.attributes)
      handle.write(level, message, attributes, about: PluginLogEntry.Subject(called.exchange))
      return Status.ok
    }
  }

  private static func refuse(_ handle: HostHandle, _ detail: String) -> sluice_status {
    handle.report(.invalidArgument, detail)
    return Status.invalid
  }

  private static func attributes(of record: sluice_log_record) throws(Attribute.Refusal) -> AttributeList {
    var list = AttributeList()
    // Swift reads a `size_t` as an `Int`: a count of more than half of the address space is negative here.
    guard (0...AttributeList.maximumCount).contains(record.attribute_count) else {
      throw Attribute.Refusal("more than \(AttributeList.maximumCount) attributes")
    }
    guard record.attribute_count > 0 else { return list }
    guard let attributes = record.attributes else { throw Attribute.Refusal("attributes without an address") }
    for raw in UnsafeBufferPointer(start: attributes, count: record.attribute_count) {
      list.set(try Attribute(raw, texts: .shorten))
    }
    return list
  }
}

extension AttributeList {
  /// Adds those attributes of the transaction whose names the record does not have, as long as there is room. Puts each
  /// of their texts on one line.
  fileprivate mutating func addMissing(from others: AttributeList) {
    for other in others where self[other.name] == nil {
      guard case .text(let text) = other.value else {
        set(other)
        continue
      }
      let line = PlainText.line(text, limitBytes: Attribute.textBytes)
      set(Attribute(other.name, .text(line), isSensitive: other.isSensitive))
    }
  }
}
