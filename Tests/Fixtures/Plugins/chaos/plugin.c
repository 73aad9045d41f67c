// Performs random allowed actions of a stage, and misuses its tokens: resumes them late, twice, after the end of their
// transaction, and from its own threads. Its actions depend only on "seed" in its `config` and on the request, so that
// the same seed gives the same run. FLAGS are the flags of its table.
//
// In destroy, it logs its counts as `name=number`. Every token must then have ended once, and no data must be left.
#include <pthread.h>
#include <stdatomic.h>

#include "../stage.h"

#ifndef FLAGS
#define FLAGS 0
#endif

#define THREADS 2
// Tokens that are kept for too long.
#define KEPT 64

typedef enum { PLAIN, POSTED } way;

// The ways in which a thread uses a token.
typedef struct errand {
  struct errand *next;
  struct chaos *self;
  sluice_token token;
  sluice_loop loop;
  way way;
  uint64_t random;
} errand;

typedef struct chaos {
  const sluice_host *host;
  uint64_t seed;
  pthread_t threads[THREADS];
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  errand *first, **last;
  int is_over;
  sluice_token kept[KEPT];
  unsigned kept_count;
  atomic_long suspended, won, already, stale, other, cancelled, won_after_cancel;
  atomic_long data, errands;
} chaos;

static uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

static uint64_t next(uint64_t *random) { return mixed(*random += 0x9E3779B97F4A7C15u); }

static unsigned draw(uint64_t *random, unsigned count) { return (unsigned)(next(random) % count); }

// Returns the same number for the same request, attempt, hop and place.
static uint64_t random_of(chaos *self, sluice_exchange *exchange, unsigned place, sluice_context *context) {
  *context = (sluice_context){.size = sizeof *context};
  self->host->exchange->context(exchange, context);
  uint64_t random = self->seed + place;
  for (size_t i = 0; i < context->path.size; i++) random = (random ^ (unsigned char)context->path.data[i]) * 0x100000001B3u;
  return mixed(random + (uint64_t)context->attempt * 64 + context->hop);
}

static sluice_status resume(chaos *self, sluice_token token, sluice_verdict verdict) {
  sluice_status status = self->host->resume(self->host, token, verdict);
  atomic_long *count = status == SLUICE_STATUS_OK        ? &self->won
                       : status == SLUICE_STATUS_ALREADY ? &self->already
                       : status == SLUICE_STATUS_STALE   ? &self->stale
                                                  : &self->other;
  atomic_fetch_add(count, 1);
  return status;
}

static void end(errand *errand) {
  atomic_fetch_sub(&errand->self->errands, 1);
  free(errand);
}

static sluice_verdict decide(chaos *self, sluice_exchange *exchange, uint64_t *random) {
  const sluice_exchange_api *api = self->host->exchange;
  switch (draw(random, 12)) {
    case 0: return api->respond(exchange, 203);
    case 1: return api->fail(exchange, text("chance"), text("by chance"));
    case 2: return api->retry(exchange, draw(random, 2000000));
    default: return SLUICE_VERDICT_CONTINUE;
  }
}

// Resumes a token on the loop. If the exchange still exists, changes the exchange first.
static void on_loop(void *context) {
  errand *errand = context;
  chaos *self = errand->self;
  sluice_exchange *exchange = self->host->enter(self->host, errand->token);
  sluice_verdict verdict = exchange ? decide(self, exchange, &errand->random) : SLUICE_VERDICT_CONTINUE;
  resume(self, errand->token, verdict);
  if (draw(&errand->random, 4) == 0) resume(self, errand->token, SLUICE_VERDICT_FAIL);
  end(errand);
}

static void perform(errand *errand) {
  chaos *self = errand->self;
  if (errand->way == POSTED && self->host->post(self->host, errand->loop, on_loop, errand) == SLUICE_STATUS_OK) return;
  resume(self, errand->token, SLUICE_VERDICT_CONTINUE);
  end(errand);
}

static void *work(void *context) {
  chaos *self = context;
  pthread_mutex_lock(&self->mutex);
  while (self->first || !self->is_over) {
    errand *errand = self->first;
    if (!errand) {
      pthread_cond_wait(&self->changed, &self->mutex);
      continue;
    }
    self->first = errand->next;
    if (!self->first) self->last = &self->first;
    pthread_mutex_unlock(&self->mutex);
    perform(errand);
    pthread_mutex_lock(&self->mutex);
  }
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

static void send_away(chaos *self, sluice_token token, sluice_loop loop, way way, uint64_t random) {
  errand *made = malloc(sizeof *made);
  *made = (errand){.self = self, .token = token, .loop = loop, .way = way, .random = random};
  atomic_fetch_add(&self->errands, 1);
  pthread_mutex_lock(&self->mutex);
  *self->last = made;
  self->last = &made->next;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->mutex);
}

// Keeps a token, and resumes an older token, whose suspended call is usually over.
static void keep(chaos *self, sluice_token token) {
  pthread_mutex_lock(&self->mutex);
  unsigned place = self->kept_count++ % KEPT;
  sluice_token old = self->kept[place];
  int has_old = self->kept_count > KEPT;
  self->kept[place] = token;
  pthread_mutex_unlock(&self->mutex);
  if (has_old) send_away(self, old, 0, PLAIN, 0);
}

static sluice_verdict suspend(chaos *self, sluice_exchange *exchange, const sluice_context *context, uint64_t random) {
  sluice_token token;
  if (self->host->exchange->suspend(exchange, &token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_CONTINUE;
  atomic_fetch_add(&self->suspended, 1);
  switch (draw(&random, 8)) {
    case 0: resume(self, token, SLUICE_VERDICT_CONTINUE); break;
    case 1: resume(self, token, SLUICE_VERDICT_CONTINUE); resume(self, token, SLUICE_VERDICT_FAIL); break;
    case 2: keep(self, token); break;
    case 3: case 4:
      // Two threads use the token at the same time.
      send_away(self, token, context->loop, PLAIN, random);
      send_away(self, token, context->loop, POSTED, random);
      break;
    case 5: send_away(self, token, context->loop, PLAIN, random); break;
    default: send_away(self, token, context->loop, POSTED, random);
  }
  if (draw(&random, 8) == 0) keep(self, token);
  return SLUICE_VERDICT_SUSPENDED;
}

// The data of a transaction.
typedef struct keepsake {
  chaos *self;
} keepsake;

static void release(void *data) {
  keepsake *kept = data;
  atomic_fetch_sub(&kept->self->data, 1);
  free(kept);
}

static void remember(chaos *self, sluice_exchange *exchange) {
  keepsake *kept = malloc(sizeof *kept);
  *kept = (keepsake){self};
  atomic_fetch_add(&self->data, 1);
  if (self->host->exchange->data_set(exchange, kept, release) != SLUICE_STATUS_OK) release(kept);
}

static sluice_verdict act(void *instance, sluice_exchange *exchange, unsigned place) {
  chaos *self = instance;
  sluice_context context;
  uint64_t random = random_of(self, exchange, place, &context);
  switch (draw(&random, 10)) {
    case 0: case 1: return suspend(self, exchange, &context, random);
    case 2: return decide(self, exchange, &random);
    case 3: remember(self, exchange); return SLUICE_VERDICT_CONTINUE;
    default: return SLUICE_VERDICT_CONTINUE;
  }
}

static sluice_verdict on_request(void *instance, sluice_exchange *exchange) { return act(instance, exchange, 1); }
static sluice_verdict on_response(void *instance, sluice_exchange *exchange) { return act(instance, exchange, 2); }

static sluice_verdict on_failure(void *instance, sluice_exchange *exchange, const sluice_failure *failure) {
  (void)failure;
  return act(instance, exchange, 3);
}

static sluice_verdict on_issue(void *instance, sluice_exchange *exchange) {
  chaos *self = instance;
  sluice_context context;
  uint64_t random = random_of(self, exchange, 4, &context);
  sluice_set_request_header(self->host, exchange, "x-chaos", "issued");
  if (draw(&random, 100) > 0) return SLUICE_VERDICT_CONTINUE;
  return self->host->exchange->fail(exchange, text("chance"), text("by chance"));
}

// Answers calls that allow only few verdicts: continues at once or later, and sometimes keeps the current response.
static sluice_verdict decide_hop(chaos *self, sluice_exchange *exchange, unsigned place, sluice_verdict other) {
  sluice_context context;
  uint64_t random = random_of(self, exchange, place, &context);
  unsigned drawn = draw(&random, 8);
  if (drawn == 0) return other;
  sluice_token token;
  if (drawn > 2 || self->host->exchange->suspend(exchange, &token) != SLUICE_STATUS_OK) return SLUICE_VERDICT_CONTINUE;
  atomic_fetch_add(&self->suspended, 1);
  send_away(self, token, context.loop, PLAIN, random);
  if (drawn == 2) send_away(self, token, context.loop, PLAIN, random);
  return SLUICE_VERDICT_SUSPENDED;
}

static sluice_verdict on_redirect(void *instance, sluice_exchange *exchange, const sluice_redirect *redirect) {
  (void)redirect;
  return decide_hop(instance, exchange, 5, SLUICE_VERDICT_RESPOND);
}

static sluice_verdict on_challenge(void *instance, sluice_exchange *exchange, const sluice_challenge *challenge) {
  chaos *self = instance;
  if (challenge->answered > 0) return SLUICE_VERDICT_CONTINUE;
  sluice_verdict verdict = decide_hop(self, exchange, 6, SLUICE_VERDICT_RESPOND);
  if (verdict == SLUICE_VERDICT_RESPOND) sluice_set_request_header(self->host, exchange, "authorization", "Bearer b");
  return verdict;
}

static void on_cancel(void *instance, sluice_token token) {
  chaos *self = instance;
  atomic_fetch_add(&self->cancelled, 1);
  if (resume(self, token, SLUICE_VERDICT_CONTINUE) == SLUICE_STATUS_OK) atomic_fetch_add(&self->won_after_cancel, 1);
  keep(self, token);
}

static sluice_status create(const sluice_host *host, json_t *config, void **instance, sluice_error *error) {
  (void)error;
  chaos *self = calloc(1, sizeof *self);
  self->host = host;
  self->seed = (uint64_t)json_integer_value(json_object_get(config, "seed"));
  self->last = &self->first;
  pthread_mutex_init(&self->mutex, NULL);
  pthread_cond_init(&self->changed, NULL);
  *instance = self;
  return SLUICE_STATUS_OK;
}

static sluice_status activate(void *instance, sluice_error *error) {
  (void)error;
  chaos *self = instance;
  for (int i = 0; i < THREADS; i++) pthread_create(&self->threads[i], NULL, work, self);
  return SLUICE_STATUS_OK;
}

static void deactivate(void *instance, uint64_t deadline) {
  (void)deadline;
  chaos *self = instance;
  unsigned kept = self->kept_count < KEPT ? self->kept_count : KEPT;
  for (unsigned i = 0; i < kept; i++) send_away(self, self->kept[i], 0, PLAIN, 0);
  pthread_mutex_lock(&self->mutex);
  self->is_over = 1;
  pthread_cond_broadcast(&self->changed);
  pthread_mutex_unlock(&self->mutex);
  for (int i = 0; i < THREADS; i++) pthread_join(self->threads[i], NULL);
}

static void report(chaos *self, const char *name, atomic_long *count) {
  char line[128];
  snprintf(line, sizeof line, "%s=%ld", name, atomic_load(count));
  sluice_log(self->host, SLUICE_LOG_INFO, line);
}

static void destroy(void *instance) {
  chaos *self = instance;
  report(self, "suspended", &self->suspended);
  report(self, "won", &self->won);
  report(self, "already", &self->already);
  report(self, "stale", &self->stale);
  report(self, "other", &self->other);
  report(self, "cancelled", &self->cancelled);
  report(self, "won-after-cancel", &self->won_after_cancel);
  report(self, "data", &self->data);
  report(self, "errands", &self->errands);
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->mutex);
  free(self);
}

static const sluice_interceptor table =
    SLUICE_TABLE(sluice_interceptor, .flags = FLAGS, .on_request = on_request, .on_issue = on_issue,
                 .on_redirect = on_redirect, .on_challenge = on_challenge, .on_response = on_response,
                 .on_failure = on_failure, .on_cancel = on_cancel);

static const void *extension(const char *id) { return strcmp(id, SLUICE_INTERCEPTOR_ID) == 0 ? &table : NULL; }

SLUICE_REQUIRES(suspend);
SLUICE_REQUIRES(hops);
SLUICE_PLUGIN(
    "chaos", "1.0.0", .summary = "A fixture.", .create = create, .activate = activate, .deactivate = deactivate,
    .destroy = destroy, .extension = extension);
