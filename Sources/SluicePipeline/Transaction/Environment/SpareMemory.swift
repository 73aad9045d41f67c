import SluiceMessages

/// Memory of ended transactions, which later transactions of the same loop use again. Confined to the loop.
struct SpareMemory {
  private static let keptRecords = 64
  private static let keptLists = 128
  /// Longer lists are not kept.
  private static let longestListBytes = 4096

  private var records: [ResultRecord] = []
  private var lists: [HeaderFields] = []

  /// A record that can take the result of another transaction; nil if none is left.
  @inline(__always)
  mutating func takeRecord() -> ResultRecord? {
    // The transaction that has left the record could still refer to it.
    guard var record = records.popLast(), isKnownUniquelyReferenced(&record) else { return nil }
    return record
  }

  /// Takes the record of an ended transaction, after ``ResultRecord/removeContent()``.
  mutating func keep(_ record: ResultRecord) {
    if records.count < Self.keptRecords { records.append(record) }
  }

  /// A copy of the fields with room for those that stages add.
  mutating func copy(of fields: HeaderFields) -> HeaderFields {
    guard var list = lists.popLast() else { return fields.withRoom(fields: 8, bytes: 512) }
    list.replaceAll(with: fields, room: 8, bytes: 512)
    return list
  }

  /// Releases everything.
  mutating func removeAll() {
    records = []
    lists = []
  }

  /// Takes a list that is no longer needed. If somebody else refers to its fields, they stay as they are.
  mutating func keep(_ list: consuming HeaderFields) {
    if lists.count < Self.keptLists, list.buffer.count <= Self.longestListBytes { lists.append(list) }
  }
}
