import SluiceSupport

/// Spaces starts evenly. After a delay, at most one missed start is made up for.
struct RunPace {
  private let interval: Duration
  private var next = MonotonicClock.now

  init(interval: Duration) { self.interval = interval }

  /// Waits until the next start is due, or until the condition is true.
  mutating func wait<State>(on monitor: Monitor<State>, until isOver: (State) -> Bool) {
    while case let rest = next - MonotonicClock.now, rest > .zero {
      let isStopped: Bool? = monitor.wait(upTo: rest) { isOver($0) ? true : nil }
      if isStopped == true { return }
    }
    next = max(next + interval, MonotonicClock.now - interval)
  }
}
