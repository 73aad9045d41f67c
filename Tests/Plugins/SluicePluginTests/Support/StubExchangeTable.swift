import CSluice
import SluiceJSON

private let ok = sluice_status(SLUICE_STATUS_OK)
private let absent = sluice_status(SLUICE_STATUS_ABSENT)
private let invalid = sluice_status(SLUICE_STATUS_INVALID)
private let stale = sluice_status(SLUICE_STATUS_STALE)

/// The functions of `sluice_exchange_api` for `StubExchange`, as the C header describes them.
func makeStubExchangeTable() -> sluice_exchange_api {
  var table = sluice_exchange_api()
  table.size = UInt32(MemoryLayout<sluice_exchange_api>.size)
  table.context = { pointer, context in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    context?.pointee = exchange.context
    return ok
  }
  addHeaders(to: &table)
  addMessage(to: &table)
  addVerdicts(to: &table)
  return table
}

private func addHeaders(to table: inout sluice_exchange_api) {
  table.header_get = { pointer, side, name, value in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard let found = exchange.header(side, String(stub: name)) else { return absent }
    value?.pointee = exchange.lend(found.utf8)
    return ok
  }
  table.header_set = { pointer, side, name, value in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    let (name, value) = (String(stub: name), String(stub: value))
    guard !value.utf8.contains(10), !name.isEmpty else { return invalid }
    exchange.remove(side, name)
    exchange.sides[Int(side)].fields.append((name, value))
    return ok
  }
  table.header_add = { pointer, side, name, value in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard !String(stub: value).utf8.contains(10) else { return invalid }
    exchange.sides[Int(side)].fields.append((String(stub: name), String(stub: value)))
    return ok
  }
  table.header_remove = { pointer, side, name in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard exchange.header(side, String(stub: name)) != nil else { return absent }
    exchange.remove(side, String(stub: name))
    return ok
  }
  table.header_at = { pointer, side, index, name, value in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard index < exchange.sides[Int(side)].fields.count else { return absent }
    let field = exchange.sides[Int(side)].fields[index]
    name?.pointee = exchange.lend(field.name.utf8)
    value?.pointee = exchange.lend(field.value.utf8)
    return ok
  }
  table.issued_header_get = { pointer, name, value in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard let found = exchange.issued[String(stub: name).lowercased()] else { return absent }
    value?.pointee = exchange.lend(found.utf8)
    return ok
  }
  table.header_mark = { pointer, _, name, _ in
    StubExchange.lent(pointer)?.sensitive.append(String(stub: name))
    return ok
  }
}

private func addMessage(to table: inout sluice_exchange_api) {
  table.method_get = { pointer, method in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    method?.pointee = exchange.lend(exchange.method.utf8)
    return ok
  }
  table.method_set = { pointer, method in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    exchange.method = String(stub: method)
    return ok
  }
  table.url_get = { pointer, url in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    url?.pointee = exchange.lend(exchange.url.utf8)
    return ok
  }
  table.url_set = { pointer, url in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard String(stub: url).hasPrefix("http") else { return invalid }
    exchange.url = String(stub: url)
    return ok
  }
  table.status_get = { StubExchange.lent($0)?.status ?? 0 }
  table.status_set = { pointer, status in
    guard (200...999).contains(status) else { return invalid }
    StubExchange.lent(pointer)?.status = status
    return ok
  }
  table.body_get = { pointer, side, bytes in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard let body = exchange.sides[Int(side)].body else { return absent }
    let copy = exchange.lend(body)
    bytes?.pointee = sluice_bytes(
      data: UnsafeRawPointer(copy.data)?.assumingMemoryBound(to: UInt8.self), size: copy.size)
    return ok
  }
  table.body_set = { pointer, side, bytes in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    exchange.sides[Int(side)].body = [UInt8](UnsafeRawBufferPointer(start: bytes.data, count: bytes.size))
    return ok
  }
  table.body_file = { _, _, _, _ in absent }
  table.json = { pointer, side, _ in
    StubExchange.lent(pointer)?.sides[Int(side)].document?.withUnsafeJSON { $0 }
  }
}

private func addVerdicts(to table: inout sluice_exchange_api) {
  table.data_set = { pointer, data, release in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    exchange.keep(data, release)
    return ok
  }
  table.data_get = { pointer in StubExchange.lent(pointer)?.data }
  table.respond = { pointer, status in
    guard let exchange = StubExchange.lent(pointer), (200...999).contains(status) else {
      return sluice_verdict(SLUICE_VERDICT_FAIL)
    }
    exchange.status = status
    exchange.sides[1] = StubExchange.Side()
    return sluice_verdict(SLUICE_VERDICT_RESPOND)
  }
  table.challenge_answer = { pointer, user, password in
    guard let exchange = StubExchange.lent(pointer) else { return sluice_verdict(SLUICE_VERDICT_FAIL) }
    exchange.credentials = [String(stub: user), String(stub: password)]
    return exchange.challengeVerdict
  }
  table.may_call = { pointer, kind in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    return exchange.permissions[kind].map { sluice_status($0) } ?? ok
  }
  table.fail = { pointer, code, message in
    StubExchange.lent(pointer)?.failure = (String(stub: code), String(stub: message))
    return sluice_verdict(SLUICE_VERDICT_FAIL)
  }
  table.retry = { pointer, delay in
    StubExchange.lent(pointer)?.retryDelay = delay
    return sluice_verdict(SLUICE_VERDICT_RETRY)
  }
  table.suspend = { pointer, token in
    guard let exchange = StubExchange.lent(pointer) else { return stale }
    guard exchange.mayBeSuspended else { return sluice_status(SLUICE_STATUS_REFUSED) }
    guard exchange.token == nil else { return sluice_status(SLUICE_STATUS_ALREADY) }
    let made = sluice_token(slot: 1, generation: 1, nonce: UInt64(exchange.name))
    exchange.token = made
    token?.pointee = made
    return ok
  }
}
