import SluiceMessages
import SluiceTestKit
import Testing

@testable import SluiceTraceContext

@Suite struct XRayTests {
  private static let root = "Root=1-01234567-89abcdef0011223344556677"
  private static let parent = "Parent=8899aabbccddeeff"

  private static func extract(_ value: String) -> Extraction {
    Propagators.of("xray").extract(["X-Amzn-Trace-Id": value])
  }

  @Test(
    arguments: [
      ("\(root);\(parent);Sampled=1", .accepted), ("\(root);\(parent);Sampled=0", .denied),
      ("\(root);\(parent);Sampled=?", .deferred), ("\(root);\(parent);Sampled=", .deferred),
      ("\(root);\(parent)", .deferred), ("Sampled=1;\(parent);\(root)", .accepted),
      ("Self=1-67891234-12456789abcdef012345678;\(root);\(parent);Sampled=1", .accepted),
      ("\(root) ; \(parent) ; Sampled=1;Lineage=a87bd80c:1|68fd508a:5|c512fbe3:2;CalledFrom=app", .accepted),
      ("\(root);\(parent);;Sampled=1;", .accepted),
    ] as [(String, SamplingState)])
  func `root, parent and decision are read in any order, and additional parts are ignored`(
    value: String, sampling: SamplingState
  ) {
    #expect(
      Self.extract(value).trace
        == RemoteTrace(
          traceID: TraceID(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233_4455_6677), spanID: 0x8899_AABB_CCDD_EEFF,
          sampling: sampling))
  }

  @Test(arguments: [
    ("", "there is no Root"), ("x", "there is no Root"), ("\(parent);Sampled=1", "there is no Root"),
    ("root=1-01234567-89abcdef0011223344556677;\(parent)", "there is no Root"), (root, "there is no Parent"),
    ("\(root);Self=1-a;Sampled=1", "there is no Parent"), ("Root=;\(parent)", "Root is not"),
    ("Root=2-01234567-89abcdef0011223344556677;\(parent)", "Root is not"),
    ("Root=1-0123456-789abcdef0011223344556677;\(parent)", "Root is not"),
    ("Root=1-01234567-89ABCDEF0011223344556677;\(parent)", "Root is not"),
    ("\(root)0;\(parent)", "Root is not"), ("Root=1-00000000-000000000000000000000000;\(parent)", "Root is zero"),
    ("\(root);Parent=8899aabbccddeef", "Parent is not"), ("\(root);Parent=0000000000000000", "Parent is zero"),
    ("\(root);Parent=é899aabbccddeef", "Parent is not"), ("\(root);\(parent);Sampled=2", "Sampled is not"),
    ("\(root);\(parent);Sampled=11", "Sampled is not"), ("\(root);\(root);\(parent)", "Root occurs twice"),
    ("\(root);\(parent);\(parent)", "Parent occurs twice"),
    ("\(root);\(parent);Sampled=1;Sampled=0", "Sampled occurs twice"),
  ])
  func `an invalid value is refused with a reason`(value: String, reason: String) {
    let extraction = Self.extract(value)
    #expect(extraction.trace == nil)
    #expect(extraction.refusals.first?.reason.hasPrefix(reason) == true, "\(extraction.refusals)")
  }

  @Test func `the header is written in the form of X-Ray`() {
    let sent = Propagators.of("xray").relay(["X-Amzn-Trace-Id": "\(Self.root);\(Self.parent);Sampled=0"])
    #expect(sent == ["X-Amzn-Trace-Id": "\(Self.root);Parent=efefefefefefefef;Sampled=0"])
  }

  @Test func `any bytes are read or refused, and no bytes cause a trap`() {
    var random = SeededRandom(seed: 29)
    let valid = Array("\(Self.root);\(Self.parent);Sampled=1".utf8)
    for _ in 0..<5000 {
      var bytes = valid.prefix(Int.random(in: 0...valid.count, using: &random)) + []
      for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let trace = try? XRay.trace(bytes.span) else { continue }
      #expect(!trace.traceID.isZero && trace.spanID != 0)
    }
  }
}
