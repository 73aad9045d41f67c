import SluiceMessages
package import SluiceRecords

// What became of the headers of a hop, where somebody wants to know it.
extension Exchange {
  /// Adds to the explanation of this hop; does nothing if no explanation is wanted. [loop]
  package func explain(_ decision: HeaderDecision) {
    guard let last = explanation?.indices.last else { return }
    explanation?[last].decisions.append(decision)
  }

  /// As ``explain(_:)-(HeaderDecision)``, about no header in particular. [loop]
  package func explain(note: String) {
    guard let last = explanation?.indices.last else { return }
    explanation?[last].notes.append(note)
  }

  func beginExplanation() {
    explanation?.append(
      HopExplanation(attempt: attempt, hop: hop, method: nativeRequest.method, origin: nativeRequest.url.origin))
  }
}
