/// A rule of the ABI that a plugin can break. Each violation has a defined outcome, a counter and a message.
package enum Violation: Int, CaseIterable, Sendable {
  /// An exchange was used after the call that it was passed to.
  case keptExchange
  /// An exchange was used on a thread that runs no call.
  case wrongThread
  /// An argument is malformed: CR, LF or NUL in a field, a name that is not a token, an unknown number.
  case invalidArgument
  /// A plugin tried to set a hop-by-hop field: a field that is valid for one connection only.
  case hopByHopField
  /// A plugin tried to change something that is read-only in that call.
  case refusedWrite
  /// A plugin left a document that is not a valid message.
  case invalidDocument
  /// A call answered with a number that is not a verdict.
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
  /// A plugin passed on a notification that it had already completed.
  case passedOnCompleted
  /// A metric was defined after `create`.
  case lateDefinition
  /// A plugin tried in `create` to run a function on a thread.
  case earlyWork
  /// A list of hosts was not released before `destroy` returned.
  case unreleasedList

  /// The violation, as the end of a sentence about the plugin.
  package var text: String {
    switch self {
    case .keptExchange: "used an exchange after the call it was passed to; nothing was touched"
    case .wrongThread:
      "used an exchange on a thread that is not in a call of the host; nothing was touched; use post and enter instead"
    case .invalidArgument: "passed a malformed argument; it was ignored"
    case .hopByHopField: "tried to set a hop-by-hop field, which stages must not set"
    case .refusedWrite: "tried to change something that is read-only in this call"
    case .invalidDocument: "left an invalid document"
    case .unknownVerdict: "answered with a number that is not a verdict; it counts as FAIL"
    case .suspendedWithoutToken: "answered SUSPENDED without having taken a token with suspend"
    case .secondResume: "resumed a token a second time; nothing was touched"
    case .staleToken: "resumed a token that is late, forged or recycled; nothing was touched"
    case .wrongEnter: "entered a token outside of a posted function of its loop, or another instance's token"
    case .earlyCallOut: "tried to make a call-out in create, which must not do I/O; nothing was sent"
    case .secondCompletion: "completed its work a second time; nothing was touched"
    case .staleCompletion: "used a completion that is late, forged or recycled; nothing was touched"
    case .passedOnCompleted: "passed on a notification that it had already completed; it counts as taken"
    case .earlyWork: "tried to run work in create, which must not start threads; it was not run"
    case .unreleasedList: "did not release a list of hosts before destroy returned; the list stays in memory"
    case .lateDefinition: "tried to define a metric after create; metrics can be defined only in create"
    }
  }
}
