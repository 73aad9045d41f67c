/// Something that a loop must run once.
enum LoopWork {
  case call(@Sendable () -> Void)
  case job(UnownedJob)
}
