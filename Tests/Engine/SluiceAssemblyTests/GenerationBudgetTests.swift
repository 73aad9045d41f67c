import Testing

@testable import SluiceAssembly

struct GenerationBudgetTests {
  private typealias Use = GenerationBudget.Use

  private func budget(_ generations: Int, bytes: Int) -> GenerationBudget {
    var settings = SwapSettings()
    (settings.generations, settings.generationBytes) = (generations, bytes)
    return GenerationBudget(settings)
  }

  @Test func `a budget is used up to its limit, and not further`() {
    let budget = budget(10, bytes: 1000)
    #expect(budget.refusal(of: Use(count: 1, bytes: 100), after: Use(count: 9, bytes: 900)) == nil)
    #expect(
      budget.refusal(of: Use(count: 1, bytes: 1), after: Use(count: 10, bytes: 10))?.contains("swap.generations)")
        == true)
    #expect(
      budget.refusal(of: Use(count: 1, bytes: 101), after: Use(count: 2, bytes: 900))?.contains("swap.generationBytes")
        == true)
    #expect(budget.refusal(of: Use(), after: Use(count: 11, bytes: 2000)) == nil)
  }

  @Test func `each mark gives one warning, for the number and for the bytes`() {
    let budget = budget(100, bytes: 1000)
    var warnings: [Int] = []
    for count in 1...100 where budget.warning(from: Use(count: count - 1), to: Use(count: count)) != nil {
      warnings.append(count)
    }
    #expect(warnings == [80, 95])
    #expect(budget.warning(from: Use(count: 1, bytes: 790), to: Use(count: 2, bytes: 800)) != nil)
    #expect(budget.warning(from: Use(count: 2, bytes: 800), to: Use(count: 3, bytes: 810)) == nil)
    #expect(budget.warning(from: Use(count: 3, bytes: 100), to: Use(count: 4, bytes: 960)) != nil)
  }

  @Test func `a budget of zero bytes refuses every swap`() {
    #expect(budget(10, bytes: 0).refusal(of: Use(count: 1, bytes: 1), after: Use()) != nil)
  }
}
