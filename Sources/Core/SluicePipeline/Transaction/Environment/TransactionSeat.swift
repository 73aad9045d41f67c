/// What a running transaction needs of its loop: a timer, a slot for its answer, and a place in the list of running
/// transactions. Seats are reused, so that a transaction takes and returns one object instead of three.
///
/// `@unchecked Sendable`: confined to the loop, except for `answer`, which any thread may use.
final class TransactionSeat: @unchecked Sendable {
  /// An earlier transaction can have left the timer armed, without a target.
  let timer = LoopTimer()
  /// Decides which thread gives the result.
  let answer: AnswerSlot
  /// The transaction that runs; nil in a vacant seat.
  var transaction: Transaction?
  /// The position of this seat among all seats of the loop.
  fileprivate var place: Int

  fileprivate init(answer: AnswerSlot, place: Int) {
    self.answer = answer
    self.place = place
  }
}

/// The seats of one loop. Confined to the loop.
struct TransactionSeats {
  private var all: [TransactionSeat] = []
  private var vacant: [TransactionSeat] = []

  /// The number of transactions that have a seat.
  var takenCount: Int { all.count - vacant.count }

  /// The transactions that have a seat.
  var transactions: [Transaction] { all.compactMap(\.transaction) }

  mutating func take(from answers: AnswerTable) -> TransactionSeat {
    if let seat = vacant.popLast() { return seat }
    let seat = TransactionSeat(answer: answers.vacantSlot(), place: all.count)
    all.append(seat)
    return seat
  }

  /// Takes back a seat. Its timer stays armed, because the next transaction will want a later deadline: disarming and
  /// arming it again would cost more than one firing without effect.
  mutating func giveBack(_ seat: TransactionSeat) {
    seat.timer.target = nil
    seat.transaction = nil
    vacant.append(seat)
  }

  /// Gives up a seat: another thread has taken its slot, which must not be used again.
  mutating func remove(_ seat: TransactionSeat) {
    seat.timer.target = nil
    seat.transaction = nil
    let last = all.removeLast()
    if last === seat { return }
    all[seat.place] = last
    last.place = seat.place
  }
}
