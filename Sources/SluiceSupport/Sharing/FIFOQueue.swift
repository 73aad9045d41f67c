/// First in, first out. An element that was taken is released at once, even while others wait; its room is freed soon
/// after. Has no lock of its own.
package struct FIFOQueue<Element> {
  /// The elements in order, starting at `head`; nil before `head`.
  private var slots: [Element?] = []
  private var head = 0
  /// The least number of empty places for which the rest moves to the front; they must also be half of all places.
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
