/// A rule of the ABI that a plugin can break. Each has a defined outcome, a counter and a message.
package enum Violation: Int, CaseIterable, Sendable {
  /// An exchange was used after the call that it was passed to.
  case keptExchange
  /// An exchange was used on a thread that runs no call.
  case wrongThread
  /// An argument is malformed: CR, LF or NUL in a field, no token as a name, an unknown number.
  case invalidArgument
  /// A field of one connection was to be set.
  case hopByHopField
  /// Something was to be changed that is read only in that call.
  case refusedWrite
  /// A document was left that is no message.
  case invalidDocument
  /// A call answered with a number that is no verdict.
  case unknownVerdict
  /// A call answered SUSPENDED without a token.
  case suspendedWithoutToken
  /// A token was resumed a second time.
  case secondResume
  /// A token was resumed that is late, forged or recycled.
  case staleToken
  /// A token was entered outside of a posted function of its loop, or by an instance that did not take it.
  case wrongEnter
  /// A call-out was started in `create`.
  case earlyCallOut
  /// Work was completed a second time.
  case secondCompletion
  /// A completion is late, forged or recycled.
  case staleCompletion
  /// A notification was passed on that had been completed.
  case passedOnCompleted
  /// A metric was defined after `create`.
  case lateDefinition
  /// A plugin asked in `create` to run a function on a thread.
  case earlyWork

  /// What happened, as the end of a sentence about the plugin.
  package var text: String {
    switch self {
    case .keptExchange: "used an exchange after the call it was passed to; nothing was touched"
    case .wrongThread: "used an exchange on a thread that runs no call; post and enter instead. Nothing was touched"
    case .invalidArgument: "passed a malformed argument; it was not taken"
    case .hopByHopField: "wanted to set a hop-by-hop field, which is not a stage's to set"
    case .refusedWrite: "wanted to change what is read only in this call"
    case .invalidDocument: "left an invalid document"
    case .unknownVerdict: "answered with a number that is not a verdict; it counts as FAIL"
    case .suspendedWithoutToken: "answered SUSPENDED without having taken a token with suspend"
    case .secondResume: "resumed a token a second time; nothing was touched"
    case .staleToken: "resumed a token that is late, forged or recycled; nothing was touched"
    case .wrongEnter: "entered a token outside of a posted function of its loop, or another instance's token"
    case .earlyCallOut: "wanted to make a call-out in create, which does no I/O; nothing was sent"
    case .secondCompletion: "completed its work a second time; nothing was touched"
    case .staleCompletion: "used a completion that is late, forged or recycled; nothing was touched"
    case .passedOnCompleted: "passed a notification on that it had completed; it counts as taken"
    case .earlyWork: "wanted to run work in create, which starts no threads; it was not run"
    case .lateDefinition: "wanted to define a metric after create; metrics are defined in create only"
    }
  }
}
