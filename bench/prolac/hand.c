/* The same receive path as receive.pc, as one would write it in C. */
#include "hand.h"

enum { ESTABLISHED = 4, CLOSE_WAIT = 5 };
enum { ACK_SOON = 1, ACK_AT_ONCE = 2 };
enum { SEGMENT_SIZE = 1460 };
enum outcome { DONE, DROP, ACK_DROP };

#define SEQ_LT(a, b) ((int32_t)((a) - (b)) < 0)
#define SEQ_LEQ(a, b) ((int32_t)((a) - (b)) <= 0)
#define SEQ_GT(a, b) ((int32_t)((a) - (b)) > 0)
#define SEQ_GEQ(a, b) ((int32_t)((a) - (b)) >= 0)

uint32_t hand_drops;

void hand_init(struct tcb *t)
{
    *t = (struct tcb){
        .state = ESTABLISHED,
        .snd_una = 1000, .snd_nxt = 1000, .snd_max = 1000, .snd_wnd = 65535, .rcv_nxt = 5000, .rcv_wnd = 32768,
        .rttvar = 24, .cwnd = SEGMENT_SIZE, .ssthresh = 16384,
    };
}

static uint32_t retransmit_time(const struct tcb *t)
{
    return t->now + ((uint32_t)((t->srtt >> 3) + t->rttvar) << t->backoff);
}

static void sent(struct tcb *t, uint32_t seqlen)
{
    t->wants = 0;
    if (seqlen > 0 && !t->timed) {
        t->timed = 1;
        t->timed_seqno = t->snd_nxt;
        t->timed_since = t->now;
    }
    t->snd_nxt += seqlen;
    if (SEQ_GT(t->snd_nxt, t->snd_max))
        t->snd_max = t->snd_nxt;
    t->sent += seqlen;
    if (seqlen > 0 && t->retransmit_at == 0)
        t->retransmit_at = retransmit_time(t);
    t->last_sent = t->now;
}

static void new_ack(struct tcb *t, uint32_t ackno)
{
    if (t->timed && SEQ_GT(ackno, t->timed_seqno)) {
        int32_t error = (int32_t)(t->now - t->timed_since) - (t->srtt >> 3);
        t->timed = 0;
        t->srtt += error;
        t->rttvar += (error < 0 ? -error : error) - (t->rttvar >> 2);
    }
    t->snd_una = ackno;
    if (SEQ_GT(ackno, t->snd_nxt))
        t->snd_nxt = ackno;
    t->backoff = 0;
    t->retransmit_at = t->snd_una == t->snd_max ? 0 : retransmit_time(t);
    if (t->wants & ACK_SOON)
        t->acks_saved++;
    t->cwnd += t->cwnd < t->ssthresh ? SEGMENT_SIZE : SEGMENT_SIZE * SEGMENT_SIZE / t->cwnd;
    if (t->cwnd > 65535)
        t->cwnd = 65535;
}

static uint32_t seqlen(const struct segment *s)
{
    return s->length + ((s->flags & SYN) != 0) + ((s->flags & FIN) != 0);
}

static enum outcome trim(const struct tcb *t, struct segment *s)
{
    if (SEQ_LT(s->seqno, t->rcv_nxt)) {
        if (s->flags & SYN) {
            s->flags &= ~SYN;
            s->seqno++;
        }
        if (SEQ_LEQ(s->seqno + seqlen(s), t->rcv_nxt))
            return ACK_DROP;
        s->length -= t->rcv_nxt - s->seqno;
        s->seqno = t->rcv_nxt;
    }
    uint32_t end = t->rcv_nxt + t->rcv_wnd;
    if (SEQ_GT(s->seqno + seqlen(s), end)) {
        if (SEQ_GEQ(s->seqno, end))
            return ACK_DROP;
        uint32_t amount = s->seqno + seqlen(s) - end;
        if (s->flags & FIN) {
            s->flags &= ~FIN;
            amount--;
        }
        s->length -= amount;
    }
    return DONE;
}

static enum outcome process(struct tcb *t, struct segment *s)
{
    t->now++;
    if ((s->flags & RST) || t->state != ESTABLISHED)
        return DROP;
    enum outcome outcome = trim(t, s);
    if (outcome != DONE)
        return outcome;
    if (!(s->flags & ACK))
        return DROP;
    if (SEQ_GT(s->ackno, t->snd_max))
        return ACK_DROP;
    if (SEQ_GT(s->ackno, t->snd_una))
        new_ack(t, s->ackno);
    t->snd_wnd = s->window;
    uint32_t length = seqlen(s);
    if (length == 0)
        return DONE;
    if (s->seqno != t->rcv_nxt)
        return ACK_DROP;
    t->delivered += s->length;
    t->rcv_nxt = s->seqno + length;
    if (t->wants & ACK_SOON) {
        t->wants |= ACK_AT_ONCE;
    } else {
        t->wants |= ACK_SOON;
        t->acks_saved++;
    }
    if (s->flags & PSH)
        t->wants |= ACK_AT_ONCE;
    if (s->flags & FIN) {
        t->state = CLOSE_WAIT;
        t->wants |= ACK_AT_ONCE;
    }
    return DONE;
}

static void output(struct tcb *t)
{
    uint32_t window = t->cwnd < t->snd_wnd ? t->cwnd : t->snd_wnd;
    if (t->snd_nxt - t->snd_una + SEGMENT_SIZE <= window)
        sent(t, SEGMENT_SIZE);
    else if (t->wants & ACK_AT_ONCE)
        sent(t, 0);
}

void hand_receive(struct tcb *t, struct segment *s)
{
    enum outcome outcome = process(t, s);
    if (outcome != DONE) {
        if (outcome == ACK_DROP)
            t->wants |= ACK_AT_ONCE;
        hand_drops++;
    }
    output(t);
}

uint64_t hand_digest(const struct tcb *t)
{
    return t->delivered * 31 + t->sent * 17 + (uint64_t)t->snd_una * 13 + (uint64_t)t->rcv_nxt * 11
           + (uint64_t)t->cwnd * 7 + (uint64_t)(int64_t)t->srtt * 5 + (uint64_t)(int64_t)t->rttvar * 3
           + t->acks_saved + t->retransmit_at;
}
