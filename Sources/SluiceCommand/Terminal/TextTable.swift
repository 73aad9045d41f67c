/// Columns of text, the first to the left and the others to the right.
struct TextTable {
  private var rows: [[String]]

  init(_ head: String...) { rows = [head] }

  mutating func append(_ row: [String]) { rows.append(row) }

  var isEmpty: Bool { rows.count == 1 }

  var lines: [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, text in
        let space = String(repeating: " ", count: widths[column] - text.count)
        return column == 0 ? text + space : space + text
      }.joined(separator: "  ")
    }
  }
}
