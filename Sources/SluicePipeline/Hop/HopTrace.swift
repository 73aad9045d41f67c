/// A hop on its way to its `didEndHop`.
struct HopTrace: Equatable {
  static let none = HopTrace(isBegun: false, began: Instant(nanoseconds: 0))

  private let isBegun: Bool
  /// When it began; not measured where no tracer is told of its end.
  let began: Instant
  /// The transfer has ended, and the `didReceive` of its response is still to be told.
  var isEnded = false

  static func begun(_ began: Instant) -> HopTrace { HopTrace(isBegun: true, began: began) }

  private init(isBegun: Bool, began: Instant) {
    self.isBegun = isBegun
    self.began = began
  }
}
