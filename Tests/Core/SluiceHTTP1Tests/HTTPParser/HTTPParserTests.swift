import Glibc
import MessageProperties
import Testing

/// Compares our parser and http-parser on the same damaged responses. A ``DifferenceRule`` must explain each
/// difference.
///
/// Compares 20,000 responses, and reads 2,000 others in pieces. With `SLUICE_SOAK=1`, compares 1,500,000 responses and
/// reads 100,000 in pieces.
@Suite struct HTTPParserTests {
  private static let isFull = getenv("SLUICE_SOAK") != nil

  @Test func `a rule explains every difference from http-parser`() {
    var responses = MutatedMessages(.responses, seed: 16)
    let count = Self.isFull ? 1_500_000 : 20_000
    var completeCount = 0
    var unexplained: [Comparison] = []
    for _ in 0..<count where unexplained.count < 10 {
      let comparison = Comparison(responses.next(), isAnswerToHead: responses.below(8) == 0)
      if comparison.ours.end != nil, comparison.theirs.end != nil { completeCount += 1 }
      if !comparison.explained().left.isEmpty { unexplained.append(comparison) }
    }
    for comparison in unexplained { Issue.record("\(comparison)") }
    #expect(unexplained.count >= 10 || completeCount > count / 4, "most responses are too damaged to compare")
  }

  @Test(arguments: DifferenceExample.all)
  func `each example gives the expected results of both parsers, and one rule explains it`(
    _ example: DifferenceExample
  ) {
    let comparison = Comparison(Array(example.response.utf8), isAnswerToHead: example.isAnswerToHead)
    #expect(comparison.ours.description == example.ours)
    #expect(comparison.theirs.description == example.httpParser)
    let (rules, left) = comparison.explained()
    #expect(rules.map(\.name) == [example.rule] && left.isEmpty)
  }

  @Test func `each rule has an example`() {
    #expect(DifferenceExample.all.map(\.rule) == DifferenceRule.all.map(\.name))
  }

  @Test func `a damaged response is read the same in pieces of any size`() {
    var responses = MutatedMessages(.responses, seed: 17)
    for _ in 0..<(Self.isFull ? 100_000 : 2_000) {
      let bytes = responses.next()
      let property = ResponseProperties.broken(by: bytes)
      #expect(property == nil, "\(Answer.text(of: bytes).debugDescription)")
    }
  }
}
