/// Guesses the word that a misspelled word was meant to be.
enum Suggestion {
  /// The length in bytes up to which a word gets a suggestion. A longer word is hardly a misspelling, and the cost
  /// grows with the length of both words.
  private static let longest = 64

  /// Returns the known word that begins with the typed word, or that differs from it in the fewest letters; nil if no
  /// known word is near enough.
  static func nearest(to word: String, among known: [String]) -> String? {
    guard word.utf8.count <= longest else { return nil }
    let completed = known.filter { $0.hasPrefix(word) && word.count > 3 }
    if completed.count == 1 { return completed[0] }
    let scored = known.map { ($0, distance(Array(word), Array($0))) }
    return scored.min { $0.1 < $1.1 }.flatMap { $0.1 <= max(1, word.count / 4) ? $0.0 : nil }
  }

  /// The number of steps that turn one word into the other. A step inserts, removes or replaces a letter, or swaps two
  /// neighbouring letters.
  static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var rows = [Array(0...right.count)]
    for i in left.indices {
      var row = [i + 1]
      for j in right.indices {
        var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (left[i] == right[j] ? 0 : 1))
        if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] { least = min(least, rows[i - 1][j - 1] + 1) }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}
