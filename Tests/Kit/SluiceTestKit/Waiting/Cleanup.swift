/// Runs the body, and then the clean-up, even if the body throws.
package func withCleanup<Result>(
  _ cleanup: () async -> Void, _ body: () async throws -> Result
) async throws -> Result {
  do {
    let result = try await body()
    await cleanup()
    return result
  } catch {
    await cleanup()
    throw error
  }
}
