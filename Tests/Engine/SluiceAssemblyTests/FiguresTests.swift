import SluiceAssembly
import Testing

@Suite struct FiguresTests {
  @Test(arguments: [
    (0, "0 ns"), (999, "999 ns"), (1_234, "1.23 µs"), (12_340_000, "12.3 ms"), (1_500_000_000, "1.50 s"),
  ])
  func `times are shown with three digits`(_ nanoseconds: Int, _ text: String) {
    #expect(Figures.time(nanoseconds: UInt64(nanoseconds)) == text)
  }

  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567"), (-999, "-999"), (-123_456, "-123,456"),
  ])
  func `the digits of counts are shown in groups of three`(_ count: Int, _ text: String) {
    #expect(Figures.count(count) == text)
  }
}
