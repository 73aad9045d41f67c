/// First in, first out. An element that was taken is released at once, even while others wait; its room is freed soon
/// after. Has no lock of its own.
public struct FIFOQueue<Element> {
  /// The elements in order, starting at `head`; nil before `head`.
  @usableFromInline var slots: [Element?] = []
  @usableFromInline var head = 0
  /// The least number of empty places for which the rest moves to the front; they must also be half of all places.
  @inlinable static var emptyPlaces: Int { 1024 }

  // Public and inlinable, as are all members: package members are not inlined into other modules, and each call of a
  // generic member would look up its type.
  /// An empty queue, which allocates nothing before the first element.
  @inlinable public init() {}

  /// How many elements wait.
  @inlinable public var count: Int { slots.count - head }
  /// Whether no element waits.
  @inlinable public var isEmpty: Bool { head == slots.count }
  /// The element that is taken next; nil if there is none.
  @inlinable public var first: Element? { isEmpty ? nil : slots[head] }

  /// The first element for which the predicate holds; nil if it never holds.
  @inlinable public func first(where predicate: (Element) -> Bool) -> Element? {
    for case let element? in slots[head...] where predicate(element) { return element }
    return nil
  }

  /// Adds an element at the end.
  @inlinable public mutating func append(_ element: Element) { slots.append(element) }

  /// Takes the first element; nil if there is none.
  @inlinable public mutating func popFirst() -> Element? {
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
