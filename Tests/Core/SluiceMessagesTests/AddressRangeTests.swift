import Testing

@testable import SluiceMessages

@Suite struct AddressRangeTests {
  @Test(arguments: [
    ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.1.2.3", "10.1.2.3", true),
    ("10.1.2.3", "10.1.2.4", false), ("0.0.0.0/0", "255.1.1.1", true), ("0.0.0.0/0", "::1", false),
    ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("::/0", "1.2.3.4", false), ("2001:db8::/32", "2001:db8:1::2", true),
    ("2001:db8::/32", "2001:db9::", false), ("2001:db8::1/127", "2001:db8::", true),
    ("2001:db8::1/128", "2001:db8::", false), ("fe80::/65", "fe80:0:0:0:7fff::1", true),
    ("fe80::/65", "fe80:0:0:0:8000::1", false), ("10.0.0.0/8", "name.example", false),
  ])
  func `a range has the addresses that begin with its bits`(_ text: String, _ address: String, _ isIn: Bool) throws {
    #expect(try #require(AddressRange(text)).contains(address) == isIn)
  }

  @Test(arguments: [
    "", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "::/129", "/8", "10.0.0/8", "name",
    "*",
    "10.0.0.0/99999999999999999999",
  ])
  func `other texts are no ranges`(_ text: String) { #expect(AddressRange(text) == nil) }
}
