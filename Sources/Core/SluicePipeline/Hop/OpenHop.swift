/// The state of a hop until its `didEndHop` is reported.
struct OpenHop: Equatable {
  static let none = OpenHop(isBegun: false, began: Instant(nanoseconds: 0))

  private let isBegun: Bool
  /// When the hop began; measured only if a tracer gets the hop's `didEndHop`.
  let began: Instant
  /// Whether the transfer has ended before the `didReceive` of its response was reported.
  var isEnded = false

  static func begun(_ began: Instant) -> OpenHop { OpenHop(isBegun: true, began: began) }

  private init(isBegun: Bool, began: Instant) {
    self.isBegun = isBegun
    self.began = began
  }
}
