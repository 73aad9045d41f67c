package import SluiceJSON
import SluiceMessages
package import SluicePipeline

extension ResultDocument.Failure {
  package init(_ error: TransactionError) {
    self.init(code: error.code.rawValue, message: error.message, stage: error.stage)
  }
}
