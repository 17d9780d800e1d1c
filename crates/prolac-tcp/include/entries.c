/* The table of what Tcp-Interface (tcp/base/interface.pc) exports, in the order of `Entries` in crates/prolac-tcp/src/abi.rs.
   Compiled beside the C that prolacc makes, whatever extensions are in it; TCP_HEADER is the header that belongs to that. */
#ifndef TCP_HEADER
#define TCP_HEADER "tcp.h"
#endif
#include TCP_HEADER
#include "environment.h"

_Static_assert(sizeof(Segment) <= 128, "a segment is larger than src/abi.rs says");
_Static_assert(sizeof(Status) == sizeof(struct tcp_status), "tcp/base/status.pc and environment.h differ");

_Static_assert(sizeof(Segment) <= 128, "extensions take more of a segment than there is");

typedef void (*entry)(void);

static const entry entries[] = {
  (entry)initialize__Tcp_Interface,
  (entry)tcb_size__Tcp_Interface,
  (entry)shared_size__Tcp_Interface,
  (entry)construct__Tcp_Interface,
  (entry)listen__Tcp_Interface,
  (entry)connect__Tcp_Interface,
  (entry)send__Tcp_Interface,
  (entry)unsent_tail__Tcp_Interface,
  (entry)grown__Tcp_Interface,
  (entry)output__Tcp_Interface,
  (entry)receive__Tcp_Interface,
  (entry)received__Tcp_Interface,
  (entry)shutdown__Tcp_Interface,
  (entry)close__Tcp_Interface,
  (entry)abort__Tcp_Interface,
  (entry)segment_arrives__Tcp_Interface,
  (entry)listen_arrives__Tcp_Interface,
  (entry)refuse__Tcp_Interface,
  (entry)timeout__Tcp_Interface,
  (entry)unreachable__Tcp_Interface,
  (entry)set__Tcp_Interface,
  (entry)urgent__Tcp_Interface,
  (entry)urgent_mark__Tcp_Interface,
  (entry)status__Tcp_Interface,
  (entry)destroy__Tcp_Interface,
};

const void *prolac_tcp_entries(void);
const void *prolac_tcp_entries(void) { return entries; }
