import CSluice

extension PluginHost {
  /// The severity of a log record, in ascending order; the raw values are those of `sluice_log_level` in `host.h`.
  public enum LogLevel: UInt32, Sendable {
    case debug = 0
    case info = 1
    case warning = 2
    case error = 3
  }

  /// Whether records of a level are logged; check it before work that is done only for the log. Takes no lock; true if
  /// the host gives no information.
  public func isLogged(_ level: LogLevel) -> Bool { link.isLogged(level) }

  /// Writes a log record, to which the host adds plugin, generation and stage. Keep secrets out of it.
  ///
  ///     host.log(.warning, "refused", ["status": 503, "url.path": .text(context.path)], about: request)
  ///
  /// - Parameters:
  ///   - message: for people; not evaluated if the level is not logged.
  ///   - attributes: for programs, at most 64; names as in ``TransactionAttributes``. If the host refuses one of them,
  ///     that is a violation, and nothing is logged. A host without structured records writes only the message.
  ///   - request: adds the transaction, the request id, the attempt and the attributes of the transaction. If the
  ///     request is not valid at this point, the record is written without them.
  public func log(
    _ level: LogLevel, _ message: @autoclosure () -> String, _ attributes: KeyValuePairs<String, AttributeValue> = [:],
    about request: StageRequest? = nil
  ) {
    guard link.isLogged(level) else { return }
    let message = message()
    let records = attributes.map { Attribute($0.key, $0.value) }
    guard let request else { return link.log(level, message, records, nil) }
    let isWritten: Void? = request.call.withExchange { _, exchange in link.log(level, message, records, exchange) }
    if isWritten == nil { link.log(level, message, records, nil) }
  }
}

extension HostLink {
  func isLogged(_ level: PluginHost.LogLevel) -> Bool {
    guard let logger else { return true }
    return withHost { logger.pointee.is_enabled($0, level.rawValue) } == sluice_status(SLUICE_STATUS_OK)
  }

  func log(_ level: PluginHost.LogLevel, _ message: String) { log(level, message, [], nil) }

  fileprivate func log(
    _ level: PluginHost.LogLevel, _ message: String, _ attributes: [Attribute], _ exchange: OpaquePointer?
  ) {
    withHost { host in
      withText(message) { message in
        guard let logger else { return host.pointee.log(host, level.rawValue, message) }
        Attribute.lend(attributes) { attributes in
          var record = sluice_log_record()
          record.size = UInt32(MemoryLayout<sluice_log_record>.size)
          record.level = level.rawValue
          record.message = message
          record.attributes = attributes.baseAddress
          record.attribute_count = attributes.count
          record.exchange = exchange
          _ = logger.pointee.write(host, &record)
        }
      }
    }
  }
}
