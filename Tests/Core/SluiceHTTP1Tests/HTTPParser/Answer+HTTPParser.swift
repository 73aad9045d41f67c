import CHTTPParser

extension Answer {
  /// Returns what http-parser reads from the bytes.
  ///
  /// - Parameter skipsBodies: whether to tell http-parser that informational responses, 204 and 304 have no body. It
  ///   does not know this by itself.
  static func httpParser(to bytes: [UInt8], isAnswerToHead: Bool, skipsBodies: Bool = false) -> Answer {
    let reading = HTTPParserReading(HTTP_RESPONSE, isAnswerToHead: isAnswerToHead, skipsBodies: skipsBodies)
    return withExtendedLifetime(reading) { reading.read(bytes) }
  }

  /// Returns what http-parser reads from the bytes of a request, and its method and target with a space between them. The
  /// status is 0.
  static func httpParser(toRequest bytes: [UInt8]) -> (answer: Answer, start: String) {
    let reading = HTTPParserReading(HTTP_REQUEST, isAnswerToHead: false, skipsBodies: false)
    return withExtendedLifetime(reading) { (reading.read(bytes), "\(reading.method) \(text(of: reading.target))") }
  }
}

/// Collects what http-parser reports.
private final class HTTPParserReading {
  private var answer = Answer()
  private var fields: [Answer.Field] = []
  private var isInValue = false
  private var start: UnsafeRawPointer?
  private(set) var method = ""
  fileprivate var target: [UInt8] = []
  private let type: http_parser_type
  private let isAnswerToHead: Bool
  private let skipsBodies: Bool

  init(_ type: http_parser_type, isAnswerToHead: Bool, skipsBodies: Bool) {
    self.type = type
    self.isAnswerToHead = isAnswerToHead
    self.skipsBodies = skipsBodies
  }

  func read(_ bytes: [UInt8]) -> Answer {
    var parser = http_parser()
    http_parser_init(&parser, type)
    // The parser calls back only inside http_parser_execute. During this call, the caller keeps this object alive.
    parser.data = Unmanaged.passUnretained(self).toOpaque()
    var settings = Self.settings
    let count = bytes.withUnsafeBytes {
      start = $0.baseAddress
      return http_parser_execute(&parser, &settings, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
    switch http_errno(parser.http_errno) {
    case HPE_PAUSED: answer.end = .at(count)
    case HPE_OK:
      // A call without bytes tells the parser that the connection has ended.
      _ = http_parser_execute(&parser, &settings, nil, 0)
      if parser.http_errno == HPE_PAUSED.rawValue { answer.end = .connection }
    case let error:
      answer.refusal = String(cString: http_errno_name(error))
      answer.position = count
    }
    return answer
  }

  private func finishHead(_ parser: http_parser) -> CInt {
    let status = Int(parser.status_code)
    if type == HTTP_REQUEST { method = String(cString: http_method_str(http_method(parser.method))) }
    answer.heads.append(Answer.Head(status: status, isHTTP10: parser.http_minor == 0, fields: fields))
    fields = []
    isInValue = false
    let hasNoBody = skipsBodies && (status / 100 == 1 || status == 204 || status == 304)
    return hasNoBody || (isAnswerToHead && status / 100 != 1) ? 1 : 0
  }

  private func finishMessage(_ parser: UnsafeMutablePointer<http_parser>) {
    answer.trailers = fields
    fields = []
    isInValue = false
    answer.keepsConnection = http_should_keep_alive(parser) != 0
    // Stops at the final response. An informational response is not final, except for 101.
    if type == HTTP_REQUEST || parser.pointee.status_code / 100 != 1 || parser.pointee.status_code == 101 {
      http_parser_pause(parser, 1)
    }
  }

  private func takeName(_ bytes: [UInt8]) {
    if isInValue || fields.isEmpty {
      fields.append(Answer.Field(name: [], value: []))
      isInValue = false
    }
    fields[fields.count - 1].name += bytes
  }

  private func takeValue(_ bytes: [UInt8]) {
    isInValue = true
    fields[fields.count - 1].value += bytes
  }

  private func takeData(_ data: UnsafePointer<CChar>?, _ count: Int) {
    answer.body += Self.bytes(data, count)
    guard let data, let start else { return }
    answer.dataEnds.append(UnsafeRawPointer(data) - start + count)
  }

  private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> HTTPParserReading? {
    (parser?.pointee.data).map { Unmanaged<HTTPParserReading>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func bytes(_ start: UnsafePointer<CChar>?, _ count: Int) -> [UInt8] {
    UnsafeBufferPointer(start: start, count: count).map { UInt8(bitPattern: $0) }
  }

  private static var settings: http_parser_settings {
    var settings = http_parser_settings()
    http_parser_settings_init(&settings)
    settings.on_url = { parser, start, count in
      HTTPParserReading.of(parser)?.target += HTTPParserReading.bytes(start, count)
      return 0
    }
    settings.on_header_field = { parser, start, count in
      HTTPParserReading.of(parser)?.takeName(HTTPParserReading.bytes(start, count))
      return 0
    }
    settings.on_header_value = { parser, start, count in
      HTTPParserReading.of(parser)?.takeValue(HTTPParserReading.bytes(start, count))
      return 0
    }
    settings.on_headers_complete = { parser in
      guard let parser else { return 0 }
      return HTTPParserReading.of(parser)?.finishHead(parser.pointee) ?? 0
    }
    settings.on_body = { parser, start, count in
      HTTPParserReading.of(parser)?.takeData(start, count)
      return 0
    }
    settings.on_message_complete = { parser in
      guard let parser else { return 0 }
      HTTPParserReading.of(parser)?.finishMessage(parser)
      return 0
    }
    return settings
  }
}
