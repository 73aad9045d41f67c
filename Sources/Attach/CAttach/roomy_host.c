#include "roomy_host.h"

#include "own_stack.h"

static const struct sluice_attach_host *inner;

/// A call of a function that takes at most these arguments.
struct call {
  void (*make)(struct call *call);
  void *transfer;
  const void *argument;
  bool blocks;
  struct sluice_attach_answer *answer;
};

static void make(void *call) { ((struct call *)call)->make(call); }

static void make_begin(struct call *call) { call->transfer = inner->begin(call->argument, call->blocks, call->answer); }
static void make_go_on(struct call *call) { inner->go_on(call->transfer, call->blocks, call->answer); }
static void make_issue(struct call *call) { inner->issue(call->transfer, call->argument, call->answer); }
static void make_receive(struct call *call) { inner->receive(call->transfer, call->argument, call->answer); }
static void make_end(struct call *call) { inner->end(call->transfer, call->argument); }
static void make_forked(struct call *call) { (void)call, inner->forked(); }
static void make_close(struct call *call) { (void)call, inner->close(); }

static void *begin(const struct sluice_attach_request *request, bool blocks, struct sluice_attach_answer *answer) {
  struct call call = {.make = make_begin, .argument = request, .blocks = blocks, .answer = answer};
  own_stack_call(make, &call);
  return call.transfer;
}

static void go_on(void *transfer, bool blocks, struct sluice_attach_answer *answer) {
  own_stack_call(make, &(struct call){.make = make_go_on, .transfer = transfer, .blocks = blocks, .answer = answer});
}

static void issue(void *transfer, const struct sluice_attach_hop *hop, struct sluice_attach_answer *answer) {
  own_stack_call(make, &(struct call){.make = make_issue, .transfer = transfer, .argument = hop, .answer = answer});
}

static void receive(void *transfer, const struct sluice_attach_head *head, struct sluice_attach_answer *answer) {
  own_stack_call(make, &(struct call){.make = make_receive, .transfer = transfer, .argument = head, .answer = answer});
}

static void end(void *transfer, const struct sluice_attach_end *end) {
  own_stack_call(make, &(struct call){.make = make_end, .transfer = transfer, .argument = end});
}

static void forked(void) { own_stack_call(make, &(struct call){.make = make_forked}); }

static void close(void) { own_stack_call(make, &(struct call){.make = make_close}); }

const struct sluice_attach_host *roomy_host(const struct sluice_attach_host *host) {
  static struct sluice_attach_host roomy;
  inner = host;
  roomy = (struct sluice_attach_host){
      .abi = host->abi, .take_plan = host->take_plan, .begin = begin, .go_on = go_on, .issue = issue,
      .receive = receive, .end = end, .forked = forked, .calls_out = host->calls_out, .close = close};
  return &roomy;
}
