import CSluice
import SluiceJSON

/// The table of exchange functions, which is the same for every instance.
enum ExchangeTable {
  /// The table is never freed, and never written after this, so all threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_exchange_api> = {
    let table = UnsafeMutablePointer<sluice_exchange_api>.allocate(capacity: 1)
    table.initialize(to: functions())
    return UnsafePointer(table)
  }()

  private static func functions() -> sluice_exchange_api {
    var table = sluice_exchange_api()
    table.size = UInt32(MemoryLayout<sluice_exchange_api>.size)
    table.context = { ExchangeContext.fill($0, $1) }
    table.header_get = { ExchangeHeaders.get($0, $1, $2, $3) }
    table.header_set = { ExchangeHeaders.set($0, $1, $2, $3) }
    table.header_add = { ExchangeHeaders.add($0, $1, $2, $3) }
    table.header_remove = { ExchangeHeaders.remove($0, $1, $2) }
    table.header_at = { ExchangeHeaders.at($0, $1, $2, $3, $4) }
    table.header_mark = { ExchangeHeaders.mark($0, $1, $2, $3) }
    table.method_get = { ExchangeLine.getMethod($0, $1) }
    table.method_set = { ExchangeLine.setMethod($0, $1) }
    table.url_get = { ExchangeLine.getURL($0, $1) }
    table.url_set = { ExchangeLine.setURL($0, $1) }
    table.status_get = { ExchangeLine.getStatus($0) }
    table.status_set = { ExchangeLine.setStatus($0, $1) }
    table.body_get = { ExchangeBody.get($0, $1, $2) }
    table.body_set = { ExchangeBody.set($0, $1, $2) }
    table.body_file = { ExchangeBody.file($0, $1, $2, $3) }
    table.body_write = { ExchangeBody.write($0, $1, $2) }
    table.json = { ExchangeDocument.lend($0, $1, $2)?.json.withUnsafeJSON { $0 } }
    table.data_set = { ExchangeAnswers.setData($0, $1, $2) }
    table.data_get = { ExchangeAnswers.getData($0) }
    table.respond = { ExchangeAnswers.respond($0, $1) }
    table.fail = { ExchangeAnswers.fail($0, $1, $2) }
    table.retry = { ExchangeAnswers.retry($0, $1) }
    table.suspend = { ExchangeAnswers.suspend($0, $1) }
    table.trailer_add = { ExchangeBody.addTrailer($0, $1, $2, $3) }
    table.body_set_file = { ExchangeBody.setFile($0, $1, $2, $3) }
    table.may_call = { ExchangePermission.answer($0, $1) }
    table.challenge_answer = { ExchangeAnswers.answerChallenge($0, $1, $2) }
    table.limit_set = { ExchangeLimit.set($0, $1, $2) }
    table.issued_header_get = { ExchangeHeaders.getIssued($0, $1, $2) }
    return table
  }
}
