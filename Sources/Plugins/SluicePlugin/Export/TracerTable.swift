import CSluice

/// The table `sluice.tracer/1`; nil for a stage that is not a tracer.
func makeTracerTable(_ kinds: StageKinds, of type: Any.Type) -> sluice_tracer? {
  guard kinds.contains(.tracer) else { return nil }
  var table = sluice_tracer()
  table.size = UInt32(MemoryLayout<sluice_tracer>.size)
  let interests = (type as? any TransactionTracer.Type)?.interests ?? Set(TransactionEvent.Kind.allCases)
  table.interests = interests.reduce(0) { $0 | 1 << $1.rawValue }
  table.on_event = { recordEvent($0, $1) }
  return table
}

private func recordEvent(_ instance: UnsafeMutableRawPointer?, _ event: UnsafePointer<sluice_event>?) {
  guard let instance = Instance.from(instance), let tracer = instance.parts.tracer, let event,
    let kind = TransactionEvent.Kind(rawValue: event.pointee.kind)
  else { return }
  let call = event.pointee.exchange.map { _ in ExchangeCall(link: instance.host.link) }
  if let call, let exchange = event.pointee.exchange { call.enter(exchange) }
  tracer.record(TransactionEvent(event: event, call: call, kind: kind))
  call?.leave()
}
