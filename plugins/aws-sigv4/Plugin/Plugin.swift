import AWSSignatureStage
public import SluicePlugin

/// Signs requests to listed hosts with version 4 of AWS's signatures.
struct AWSSigV4: Plugin, RequestInterceptor, IssueInterceptor {
  static let information = PluginInformation(
    id: "aws-sigv4", version: "1.0.0", summary: "Signs requests with version 4 of AWS's signatures.")
  static let configurationSchema: String? = SigningConfiguration.schema
  static let configurationDefaults: JSONValue? = SigningConfiguration.defaults
  static let selfTests = [
    SelfTest<AWSSigV4>(
      "signs-published-example", "The signature is the one that AWS publishes for \"get-vanilla\".",
      configuration: [
        "accessKeyID": "AKIDEXAMPLE", "secretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        "region": "us-east-1", "service": "service", "hosts": ["example.amazonaws.com"],
      ], request: ["url": "https://example.amazonaws.com/"],
      expectedRequest: [
        "headers": [
          "x-amz-date": "20150830T123600Z",
          "authorization": JSONValue(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
              + "SignedHeaders=host;x-amz-date, "
              + "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ]
      ], wallClock: .seconds(1_440_938_160)),
    SelfTest<AWSSigV4>(
      "signs-listed-host", "The hash of the body is sent to the listed host.", configuration: example,
      request: ["url": "https://bucket.s3.eu-west-1.amazonaws.com/a"],
      expectedRequest: [
        "headers": [
          "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
          "x-amz-security-token": "token",
        ]
      ]),
    SelfTest<AWSSigV4>(
      "leaves-other-host", "Another host gets nothing.", configuration: example,
      request: ["url": "https://bucket.s3.eu-west-1.amazonaws.com.example.org/a"],
      expectedRequest: ["headers": ["authorization": .null, "x-amz-security-token": .null, "x-amz-date": .null]]),
  ]

  private static let example: JSONValue = [
    "accessKeyID": "AKIDEXAMPLE", "secretAccessKey": "secret", "sessionToken": "token", "region": "eu-west-1",
    "service": "s3", "hosts": ["*.amazonaws.com"],
  ]

  private let stage: SigningStage

  init(configuration: SigningConfiguration, host: PluginHost) throws {
    let signer = try configuration.signer()
    let hosts = try host.hostList(configuration.hosts, named: "hosts")
    let payload: SigningStage.Payload = configuration.payload == .signed ? .signed : .unsigned
    stage = SigningStage(.hosts(hosts), payload, wallClock: { host.wallClock }) { request, body in
      try await host.work(onBehalfOf: request, body)
    } signer: { _ in
      signer
    }
  }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    try await stage.intercept(request, context: context)
  }

  func interceptIssue(_ request: StageRequest, context: RequestContext) throws {
    try stage.interceptIssue(request, context: context)
  }
}

// The features that the host must have: without them, a body could not be hashed, or no hop would be signed.
@section(".sluice.requires.suspend") @used let requiresSuspend = true
@section(".sluice.requires.request_body") @used let requiresRequestBody = true
@section(".sluice.requires.hops") @used let requiresHops = true

/// The entry point that the host looks for.
@c(sluice_plugin_entry) public func entry(_ host: EntryHost, _ abi: UInt32, _ error: EntryError) -> EntryTable {
  export(AWSSigV4.self, host, abi, error)
}
