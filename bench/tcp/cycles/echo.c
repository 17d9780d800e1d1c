/* Cycles of protocol processing per packet: two Prolac TCPs in one process send each other 4 bytes, to and fro. Counted is
   the time from entry to exit of every function of Tcp-Interface, as in the thesis (A fast Prolac TCP for the real world,
   1999, chapter 5), without the environment: carrying a packet from one side to the other is not counted. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "tcp.h"
#include "environment.h"

enum { SIDES = 2, POOL = 64, PACKET = 256 };

struct packet { uint8_t bytes[PACKET]; unsigned header_length, length; };
struct side { struct side *peer; TCB *tcb, *listener; struct packet wire[8]; unsigned first, last; };

static struct side sides[SIDES];
static Config config;
static union { Segment segment; char room[128]; } pool[POOL];
static uint8_t buffers[POOL][PACKET];
static int free_segments[POOL], free_count;
static uint64_t inside, began, calls, now = 1000000;
static unsigned long packets;

static void *segment_new(void *stack) {
  (void)stack;
  if (free_count == 0) return NULL;
  int at = free_segments[--free_count];
  memset(&pool[at], 0, sizeof pool[at]);
  pool[at].segment.data = buffers[at];
  pool[at].segment.merged = 1;
  return &pool[at];
}
static void segment_free(void *stack, void *segment) {
  (void)stack;
  free_segments[free_count++] = (int)((char *)segment - (char *)pool) / (int)sizeof pool[0];
}
static void *segment_split(void *stack, void *segment, uint32_t at) { (void)stack, (void)segment, (void)at; abort(); }
static void transmit(void *stack, const struct tcp_transmit *t) {
  inside += __rdtsc() - began;
  struct side *to = ((struct side *)stack)->peer;
  struct packet *p = &to->wire[to->last++ % 8];
  memcpy(p->bytes, t->header, t->header_length);
  if (t->length) memcpy(p->bytes + t->header_length, ((Segment *)t->segment)->data, t->length);
  p->header_length = t->header_length, p->length = t->length;
  packets++;
  began = __rdtsc();
}
static TCB *new_tcb(struct side *side) {
  TCB *tcb = calloc(1, sizeof *tcb);
  tcb->stack = side, tcb->config = &config, tcb->family = 4, tcb->ip_header_length = 20;
  return tcb;
}
static void *spawn(void *stack, void *listener, const void *segment) {
  (void)listener, (void)segment;
  struct side *side = stack;
  return side->tcb = new_tcb(side);
}
static uint64_t hash(void *stack, const void *data, size_t length) { (void)stack, (void)data; return length * 31; }
static uint32_t random_number(void *stack) { (void)stack; return 4; }
static void *shared(void *stack) { static uint64_t memory[4096]; (void)stack; return memory; }
static const struct tcp_environment environment = {segment_new, segment_free, segment_split, transmit, spawn, hash, random_number, shared};

#define TIMED(call) (began = __rdtsc(), call, inside += __rdtsc() - began, calls++)

/* Gives what waits on the wire to its receiver. */
static int deliver(struct side *side) {
  if (side->first == side->last) return 0;
  struct packet *p = &side->wire[side->first++ % 8];
  Segment *s = segment_new(side);
  memcpy((void *)s->data, p->bytes, p->header_length + p->length);
  s->header = (void *)s->data, s->data += p->header_length, s->length = p->length;
  s->header_length = (unsigned char)p->header_length, s->flags = p->bytes[13];
  s->seqno = ntohl(*(uint32_t *)(p->bytes + 4)), s->ackno = ntohl(*(uint32_t *)(p->bytes + 8));
  s->window = ntohs(*(uint16_t *)(p->bytes + 14));
  now += 5;
  if (side->tcb) TIMED(segment_arrives__Tcp_Interface((void *)side->tcb, (void *)s, now));
  else TIMED(listen_arrives__Tcp_Interface((void *)side->listener, (void *)s, now));
  return 1;
}
static void write4(struct side *side) {
  Segment *s = segment_new(side);
  memcpy((void *)s->data, "ping", 4);
  s->length = 4, s->flags = 8;
  TIMED(send__Tcp_Interface((void *)side->tcb, (void *)s, now));
}
static int read4(struct side *side) {
  Segment *s;
  TIMED(s = (Segment *)receive__Tcp_Interface((void *)side->tcb));
  if (s == NULL) return 0;
  segment_free(side, s);
  TIMED(received__Tcp_Interface((void *)side->tcb, 4, now));
  return 1;
}
static void round_trips(unsigned long count) {
  for (unsigned long i = 0; i < count; i++) {
    write4(&sides[0]);
    for (int done = 0; !done;) {
      while (deliver(&sides[1])) if (read4(&sides[1])) write4(&sides[1]);
      while (deliver(&sides[0])) done |= read4(&sides[0]);
    }
  }
}

int main(int argc, char **argv) {
  unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 0) : 200000;
  config = (Config){.window_scaling = 1, .timestamps = 1, .sack = 1, .mtu = 1500, .initial_window = 10, .syn_retries = 6,
    .synack_retries = 5, .retries = 15, .rto_initial = 1000000, .rto_min = 200000, .rto_max = 120000000,
    .delayed_ack_min = 40000, .delayed_ack_max = 200000, .time_wait = 60000000, .keepalive_time = 7200000,
    .keepalive_interval = 75000, .receive_buffer = 131072, .receive_buffer_max = 6291456, .challenge_acks = 1000,
    .congestion_control = 1};
  for (int i = 0; i < POOL; i++) free_segments[free_count++] = i;
  sides[0].peer = &sides[1], sides[1].peer = &sides[0];
  initialize__Tcp_Interface((void *)&environment);
  sides[1].listener = new_tcb(&sides[1]), sides[0].tcb = new_tcb(&sides[0]);
  construct__Tcp_Interface((void *)sides[1].listener, now), construct__Tcp_Interface((void *)sides[0].tcb, now);
  sides[1].listener->local_port = sides[0].tcb->remote_port = 7, sides[0].tcb->local_port = 4000;
  sides[1].listener->backlog = 4;
  listen__Tcp_Interface((void *)sides[1].listener);
  connect__Tcp_Interface((void *)sides[0].tcb, now);
  while (deliver(&sides[1]) || deliver(&sides[0])) {}
  round_trips(count / 10);

  uint64_t least = UINT64_MAX, overhead = UINT64_MAX;
  for (int i = 0; i < 1000; i++) {
    uint64_t a = __rdtsc(), b = __rdtsc();
    if (b - a < overhead) overhead = b - a;
  }
  unsigned long sent = 0;
  for (int run = 0; run < 9; run++) {
    inside = 0, calls = 0, packets = 0;
    round_trips(count / 10);
    uint64_t spent = inside - (calls + packets) * overhead;
    if (spent < least) least = spent, sent = packets;
  }
  printf("%.0f cycles a packet, %.2f packets a round trip\n", (double)least / (double)sent, (double)sent / (double)(count / 10));
  return 0;
}
