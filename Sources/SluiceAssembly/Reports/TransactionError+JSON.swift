package import SluiceJSON
package import SluicePipeline

extension ResultDocument.Failure {
  package init(_ error: TransactionError) {
    self.init(code: error.code, message: error.message, stage: error.stage)
  }
}
