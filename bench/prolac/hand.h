/* The connection of hand.c. */
#include "trace.h"

struct tcb {
    int state;
    uint32_t wants;
    uint64_t delivered, sent;
    uint32_t snd_una, snd_nxt, snd_max, snd_wnd, rcv_nxt, rcv_wnd;
    uint32_t now;
    int timed;
    uint32_t timed_seqno, timed_since;
    int32_t srtt, rttvar;
    uint32_t retransmit_at, backoff;
    uint32_t acks_saved;
    uint32_t cwnd, ssthresh, last_sent;
};

extern uint32_t hand_drops;
void hand_init(struct tcb *t);
void hand_receive(struct tcb *t, struct segment *s);
uint64_t hand_digest(const struct tcb *t);
