import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// A bounded copy of an event, in one piece of memory: a `sluice_event` without an exchange, its timings, its connection
/// without the certificate, its span with the attributes, and its texts.
struct EventRecord {
  /// Longer texts are cut, between two characters.
  static let urlBytes = 2048
  static let messageBytes = 1024
  static let textBytes = PluginText.eventTextBytes

  private static let timingsOffset = (MemoryLayout<sluice_event>.size + 15) & ~15
  private static let connectionOffset = (timingsOffset + MemoryLayout<sluice_timings>.size + 15) & ~15
  private static let spanOffset = (connectionOffset + MemoryLayout<sluice_connection_facts>.size + 15) & ~15
  private static let attributeOffset = spanOffset + MemoryLayout<sluice_span>.stride

  let event: TraceEvent
  private let method: String
  private let url: String
  private let timings: TransferTimings?
  private let connection: ConnectionFacts?
  private let span: StageSpan?
  private let textOffset: Int
  /// The size that the whole record needs.
  let byteCount: Int

  /// [loop]
  init(_ event: TraceEvent) {
    self.event = event
    (method, url) = event.requestLine
    timings = event.timings
    connection = event.connection
    span = event.span
    textOffset =
      span.map { Self.attributeOffset + $0.attributes.count * MemoryLayout<sluice_attribute>.stride }
      ?? Self.spanOffset
    var count = textOffset + Self.count(event.exchange.requestID, Self.textBytes)
    count += Self.count(method, Self.textBytes) + Self.count(url, Self.urlBytes)
    if let error = event.error {
      count += Self.count(error.code.rawValue, Self.textBytes) + Self.count(error.message, Self.messageBytes)
      count += Self.count(error.stage ?? "", Self.textBytes)
    }
    if let connection { count += Self.count(connection) }
    if let span { count += Self.count(span) }
    byteCount = count
  }

  /// Writes the record to memory of ``byteCount`` bytes; the record contains addresses in that memory. [loop]
  func write(to memory: UnsafeMutableRawPointer) {
    var writer = TextWriter(next: memory + textOffset)
    var record = sluice_event(event)
    if let error = event.error {
      record.error_code = writer.copy(error.code.rawValue, Self.textBytes)
      record.error_message = writer.copy(error.message, Self.messageBytes)
      record.error_stage = writer.copy(error.stage ?? "", Self.textBytes)
    }
    record.request_id = writer.copy(event.exchange.requestID, Self.textBytes)
    record.method = writer.copy(method, Self.textBytes)
    record.url = writer.copy(url, Self.urlBytes)
    if let timings {
      let place = (memory + Self.timingsOffset).bindMemory(to: sluice_timings.self, capacity: 1)
      place.initialize(to: sluice_timings(timings))
      record.timings = UnsafePointer(place)
    }
    if let connection {
      let place = (memory + Self.connectionOffset).bindMemory(to: sluice_connection_facts.self, capacity: 1)
      place.initialize(to: sluice_connection_facts(connection) { writer.copy($0, Self.textBytes) })
      record.connection = UnsafePointer(place)
    }
    if let span { record.span = write(span, to: memory, &writer) }
    memory.bindMemory(to: sluice_event.self, capacity: 1).initialize(to: record)
  }

  private func write(
    _ span: StageSpan, to memory: UnsafeMutableRawPointer, _ writer: inout TextWriter
  ) -> UnsafePointer<sluice_span> {
    let attributes = (memory + Self.attributeOffset).bindMemory(
      to: sluice_attribute.self, capacity: span.attributes.count)
    for (index, attribute) in span.attributes.enumerated() {
      (attributes + index).initialize(to: sluice_attribute(attribute) { writer.copy($0, SpanText.value.limitBytes) })
    }
    let place = (memory + Self.spanOffset).bindMemory(to: sluice_span.self, capacity: 1)
    place.initialize(to: sluice_span(span, attributes) { writer.copy($0, $1.limitBytes) })
    return UnsafePointer(place)
  }

  private static func count(_ connection: ConnectionFacts) -> Int {
    let security = connection.security
    let texts = [connection.peer?.host, connection.local?.host, security?.version, security?.cipher]
    return texts.reduce(0) { $0 + count($1 ?? "", textBytes) }
  }

  private static func count(_ span: StageSpan) -> Int {
    var bytes = count(span.name, SpanText.name.limitBytes) + count(span.statusMessage, SpanText.value.limitBytes)
    bytes += count(span.stage, SpanText.stage.limitBytes)
    for attribute in span.attributes {
      bytes += count(attribute.name, SpanText.value.limitBytes)
      if case .text(let text) = attribute.value { bytes += count(text, SpanText.value.limitBytes) }
    }
    return bytes
  }

  /// The event in memory that ``write(to:)`` filled.
  static func event(at memory: UnsafeMutableRawPointer) -> UnsafePointer<sluice_event> {
    UnsafePointer(memory.assumingMemoryBound(to: sluice_event.self))
  }

  private static func count(_ text: String, _ limit: Int) -> Int { min(text.utf8.count, limit) }
}

/// Puts texts one after the other.
private struct TextWriter {
  var next: UnsafeMutableRawPointer

  mutating func copy(_ text: String, _ limit: Int) -> sluice_text {
    var text = text
    let copy = text.withUTF8 { bytes -> sluice_text in
      guard let start = bytes.baseAddress, !bytes.isEmpty else { return .empty }
      let count = Self.cut(bytes, limit)
      next.copyMemory(from: start, byteCount: count)
      return sluice_text(data: UnsafePointer(next.assumingMemoryBound(to: CChar.self)), size: count)
    }
    next += copy.size
    return copy
  }

  /// The length at which the text is cut: never within a UTF-8 character.
  private static func cut(_ bytes: UnsafeBufferPointer<UInt8>, _ limit: Int) -> Int {
    guard bytes.count > limit else { return bytes.count }
    var count = limit
    while count > 0, bytes[count] & 0xC0 == 0x80 { count -= 1 }
    return count
  }
}
