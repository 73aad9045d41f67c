extension Duration {
  var milliseconds: Int { Int(self / .milliseconds(1)) }
}
