import SluiceMessages
import Testing

@testable import SluiceWire

@Suite struct TrustApprovalsTests {
  @Test func `an approval is for one origin and one key`() {
    let approvals = TrustApprovals()
    let origin = Origin(scheme: .https, host: "a.example")
    approvals.insert(origin, [1, 2], isAccepted: true)
    #expect(approvals.contains(origin, [1, 2], isValid: false))
    #expect(!approvals.contains(origin, [1, 3], isValid: false))
    #expect(!approvals.contains(Origin(scheme: .https, host: "a.example", port: 444), [1, 2], isValid: false))
    #expect(!approvals.contains(Origin(scheme: .https, host: "b.example"), [1, 2], isValid: false))
  }

  @Test func `what was left to the authorities is approved only as long as they vouch for it`() {
    let approvals = TrustApprovals()
    let origin = Origin(scheme: .https, host: "a.example")
    approvals.insert(origin, [1], isAccepted: false)
    #expect(approvals.contains(origin, [1], isValid: true))
    #expect(!approvals.contains(origin, [1], isValid: false))
  }

  @Test func `their number is bounded`() {
    let approvals = TrustApprovals()
    let origin = Origin(scheme: .https, host: "a.example")
    for key in 0...4096 { approvals.insert(origin, [UInt8(key & 255), UInt8(key >> 8)], isAccepted: true) }
    #expect(!approvals.contains(origin, [0, 0], isValid: false))
    #expect(approvals.contains(origin, [0, 16], isValid: false))
  }
}
