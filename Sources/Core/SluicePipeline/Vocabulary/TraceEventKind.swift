/// What an entry of the ledger records. The numbers are the same as in the C interface.
package enum TraceEventKind: UInt32, Sendable, Hashable {
  case willExecute = 1
  case didConfigure = 2
  case didIssue = 3
  case didReceive = 4
  case didValidateResponse = 5
  case didExtract = 6
  case didValidatePayload = 7
  case didComplete = 8
  case didReceiveInformational = 9
  case willRetry = 10
  case willRedirect = 11
  case didEndHop = 12
  /// A span that a stage began has ended. Comes before the next event of the transaction.
  case didEndSpan = 13
}
