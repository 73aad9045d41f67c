/// A queue: first in, first out. It releases an element when that element is taken, and frees the element's room soon
/// after. It has no lock of its own.
public struct FIFOQueue<Element> {
  /// The elements in order, beginning at `head`. The places before `head` are nil.
  @usableFromInline var slots: [Element?] = []
  @usableFromInline var head = 0
  /// The smallest number of empty places at the front that are removed. They are removed only if they are also at least
  /// half of all places.
  @inlinable static var emptyPlaces: Int { 1024 }

  // All members are public and inlinable, because package members are not inlined into other modules. Without inlining,
  // each call of a generic member would look up its type.
  /// Makes an empty queue, which allocates nothing before the first element.
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
