/* What the Prolac TCP and its environment have in common: the C side of crates/prolac-tcp/src/abi.rs, which mirrors every
   structure here and must change with it. The TCB and the Segment are Prolac modules whose first fields have fixed offsets
   (tcp/base/tcb.pc, tcp/base/segment.pc). */
#ifndef PROLAC_TCP_ENVIRONMENT_H
#define PROLAC_TCP_ENVIRONMENT_H
#include <stddef.h>
#include <stdint.h>

/* A segment to send. The environment puts the IP header in front of it and completes the checksum. */
struct tcp_transmit {
  void *tcb;              /* who sends it; NULL: it answers the segment that is being processed */
  const uint8_t *header;  /* TCP header and options; ports filled in, checksum field 0 */
  uint32_t header_length; /* bytes, a multiple of 4 */
  void *segment;          /* the segment with the text, or NULL */
  uint32_t length;        /* bytes of text, from the segment's first on */
  uint32_t segment_size;  /* text is to be cut into pieces of so many bytes, if it is longer */
  uint8_t ecn;            /* the ECN field of the IP header: 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE */
  uint8_t dont_fragment;  /* whether the IP header says so */
};

/* What the TCP asks of its environment. `stack` is what the TCB was constructed with. */
struct tcp_environment {
  void *(*segment_new)(void *stack);                                 /* an empty segment, or NULL */
  void (*segment_free)(void *stack, void *segment);                  /* with its buffer */
  void *(*segment_split)(void *stack, void *segment, uint32_t at);   /* text from byte `at` on, as a new segment that
                                                                        shares the buffer; or NULL */
  uint32_t (*segment_fill)(void *stack, void *segment, void *next, uint32_t amount); /* moves so much text at most from the
                                                                        beginning of the next one to the end of the segment;
                                                                        how much: 0 if there is no memory */
  void (*transmit)(void *stack, const struct tcp_transmit *t);       /* copies what it needs */
  void *(*spawn)(void *stack, void *listener, const void *segment);  /* memory for the TCB of a connection that the
                                                                        segment opens; its addresses are set; or NULL */
  uint64_t (*hash)(void *stack, const void *data, size_t length);    /* SipHash with the stack's secret */
  uint64_t (*cookie)(void *stack, const void *tcb, uint32_t which);  /* of fast open, for the peer of a connection that its
                                                                        listener has begun, as its 8 bytes stand in memory:
                                                                        0 the one to give, 1 one that is good still */
  uint32_t (*random)(void *stack);
  void *(*shared)(void *stack);                                      /* memory that the connections of a stack have in
                                                                        common: as much as shared_size() says, zero at first */
};

/* What users read about a connection: TCP_INFO of Linux and a little more. Times in microseconds. */
struct tcp_status {
  uint8_t state, congestion_state, retransmits, probes, backoff, options, send_scale, receive_scale;
  uint32_t rto, ato, send_mss, receive_mss;
  uint32_t unacked, sacked, lost, retransmitted;             /* segments */
  uint32_t last_data_sent, last_ack_sent, last_data_received, last_ack_received; /* microseconds ago */
  uint32_t path_mtu, receive_threshold, rtt, rtt_variance;
  uint32_t send_threshold, congestion_window, advertised_mss, reordering; /* windows in segments, as Linux gives them */
  uint32_t receive_rtt, receive_space, total_retransmissions, unsent;
  uint32_t send_window, receive_window, min_rtt, send_next, send_unacked, receive_next;
  uint64_t bytes_acked, bytes_received, bytes_sent, bytes_retransmitted;
  uint32_t segments_out, segments_in, data_segments_out, data_segments_in;
  uint32_t delivered, delivered_ce, duplicate_sacks, reordering_seen;
  uint32_t early_segments, timeouts, timeout_recoveries, timeout_time; /* the last in milliseconds */
  uint64_t busy_time, window_limited_time, pacing_rate, delivery_rate; /* microseconds; bytes a second */
  uint32_t fast_open_failure, is_rate_limited_by_user;
};
#endif
