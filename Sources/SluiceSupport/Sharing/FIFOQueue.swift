/// First in, first out. What was taken is let go at once, also while others wait; the room it took is given back before
/// long. Has no lock of its own.
package struct FIFOQueue<Element> {
  /// In their order from `head` on; nil before it.
  private var slots: [Element?] = []
  private var head = 0
  /// Empty places from which on the rest is moved up, once they are half of all.
  private static var emptyPlaces: Int { 1024 }

  package init() {}

  package var count: Int { slots.count - head }
  package var isEmpty: Bool { head == slots.count }
  package var first: Element? { isEmpty ? nil : slots[head] }

  package mutating func append(_ element: Element) { slots.append(element) }

  package mutating func popFirst() -> Element? {
    guard let element = first else { return nil }
    slots[head] = nil
    head += 1
    if head == slots.count {
      slots.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= Self.emptyPlaces, head * 2 >= slots.count {
      slots.removeFirst(head)
      head = 0
    }
    return element
  }
}
