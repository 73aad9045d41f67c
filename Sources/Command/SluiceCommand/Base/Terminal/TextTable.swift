/// Columns of text. The first and the last columns can be left-aligned. All other columns are right-aligned.
struct TextTable {
  private var rows: [[String]]
  private let leading: Int
  private let trailing: Int

  /// - Parameters:
  ///   - leading: the number of left-aligned columns at the beginning.
  ///   - trailing: the number of left-aligned columns at the end.
  init(_ head: String..., leading: Int = 1, trailing: Int = 0) {
    rows = [head]
    self.leading = leading
    self.trailing = trailing
  }

  mutating func append(_ row: [String]) { rows.append(row) }

  var isEmpty: Bool { rows.count == 1 }

  var lines: [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, text in
        let space = String(repeating: " ", count: widths[column] - text.count)
        if column >= count - trailing { return column == count - 1 ? text : text + space }
        return column < leading ? text + space : space + text
      }.joined(separator: "  ")
    }
  }
}
