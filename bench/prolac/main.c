/* Drives one of the two receive paths with a trace of segments: `bench PACKETS [check]`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hand.h"

#ifdef HAND
typedef struct tcb connection;
typedef struct segment packet;
#define init hand_init
#define receive hand_receive
#define digest hand_digest
#define drops hand_drops
#else
#include "receive.h"
typedef struct Slow_Start__TCB connection;
typedef struct Segment packet;
#define init init__Bench
#define receive receive__Input
#define digest digest__Bench
#define drops Input__drops
#endif

enum { TRACE = 4096 };
static struct segment trace[TRACE];
static uint32_t state = 12345;

static uint32_t below(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

/* A segment for a connection in this state: mostly in order with a new acknowledgement; one in 16 old, early or odd. */
static struct segment next(const struct tcb *t)
{
    uint32_t size = below(4) == 0 ? 0 : 1 + below(1460);
    struct segment s = {t->rcv_nxt, t->snd_una, 30000 + below(30000), size, ACK};
    if (below(3) > 0 && t->snd_max != t->snd_una)
        s.ackno = t->snd_max - (below(4) == 0 ? (t->snd_max - t->snd_una) / 2 : 0);
    if (below(8) == 0)
        s.flags |= PSH;
    switch (below(64)) {
    case 0: s.seqno -= 1 + below(2000); break;
    case 1: s.seqno += 20000 + below(20000); break;
    case 2: s.ackno = t->snd_max + 1 + below(100); break;
    case 3: s.flags &= ~ACK; break;
    }
    return s;
}

/* The trace is made with the program in C, and both programs receive it. */
static void make_trace(void)
{
    struct tcb t;
    hand_init(&t);
    for (int i = 0; i < TRACE; i++) {
        trace[i] = next(&t);
        struct segment copy = trace[i];
        hand_receive(&t, &copy);
    }
    hand_drops = 0;
}

int main(int argc, char **argv)
{
    long packets = argc > 1 ? atol(argv[1]) : TRACE;
    make_trace();
    connection t;
    uint64_t sum = 0;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long i = 0; i < packets; i++) {
        if (i % TRACE == 0)
            init(&t);
        packet s;
        memcpy(&s, &trace[i % TRACE], sizeof s);
        receive(&t, &s);
        if (i % TRACE == TRACE - 1)
            sum += digest(&t);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
    printf("%llu %u %.3f\n", (unsigned long long)(sum + digest(&t)), drops, ns / (double)packets);
    return 0;
}
