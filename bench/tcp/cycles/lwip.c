/* Cycles of protocol processing per packet of lwIP: two of its interfaces send each other 4 bytes, to and fro, as in echo.c.
   Counted is the time in the interfaces' input and in the calls of the user, without that for carrying packets. */
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/tcp.h"

static struct netif sides[2];
static struct pbuf *wire[2][8];
static unsigned first[2], last[2];
static struct tcp_pcb *client, *server;
static uint64_t inside, began, calls;
static unsigned long packets;
static int done;

u32_t sys_now(void) { return 1000; }

/* What one side sends goes to the other's queue: its interface is the one that owns the destination. */
static err_t output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to) {
  inside += __rdtsc() - began;
  (void)to;
  int side = netif == &sides[1];
  struct pbuf *copy = pbuf_alloc(PBUF_RAW, p->tot_len, PBUF_RAM);
  pbuf_copy(copy, p);
  wire[side][last[side]++ % 8] = copy;
  packets++;
  began = __rdtsc();
  return ERR_OK;
}
static err_t start(struct netif *netif) {
  netif->output = output, netif->mtu = 1500, netif->flags |= NETIF_FLAG_LINK_UP;
  return ERR_OK;
}
static err_t received(void *is_server, struct tcp_pcb *pcb, struct pbuf *p, err_t error) {
  (void)error;
  if (p == NULL) exit(1);
  if (is_server) tcp_write(pcb, p->payload, p->len, TCP_WRITE_FLAG_COPY);
  else done = 1;
  tcp_recved(pcb, p->tot_len);
  if (is_server) tcp_output(pcb);
  pbuf_free(p);
  return ERR_OK;
}
static err_t accepted(void *argument, struct tcp_pcb *pcb, err_t error) {
  (void)argument, (void)error;
  server = pcb;
  tcp_arg(pcb, pcb), tcp_recv(pcb, received);
  tcp_nagle_disable(pcb);
  return ERR_OK;
}
static err_t connected(void *argument, struct tcp_pcb *pcb, err_t error) {
  (void)argument, (void)error;
  client = pcb;
  tcp_recv(pcb, received);
  tcp_nagle_disable(pcb);
  return ERR_OK;
}
static int deliver(int side) {
  if (first[side] == last[side]) return 0;
  struct pbuf *p = wire[side][first[side]++ % 8];
  began = __rdtsc();
  if (sides[side].input(p, &sides[side]) != ERR_OK) pbuf_free(p);
  inside += __rdtsc() - began, calls++;
  return 1;
}
static void round_trips(unsigned long count) {
  for (unsigned long i = 0; i < count; i++) {
    done = 0;
    began = __rdtsc();
    tcp_write(client, "ping", 4, TCP_WRITE_FLAG_COPY), tcp_output(client);
    inside += __rdtsc() - began, calls++;
    while (!done) if (deliver(0) + deliver(1) == 0) tcp_fasttmr();
  }
}

int main(void) {
  enum { COUNT = 20000 };
  ip4_addr_t address[2], mask;
  lwip_init();
  IP4_ADDR(&address[0], 10, 0, 0, 1), IP4_ADDR(&address[1], 10, 0, 1, 1), IP4_ADDR(&mask, 255, 255, 255, 0);
  for (int i = 0; i < 2; i++) netif_add(&sides[i], &address[i], &mask, &address[i], NULL, start, ip_input), netif_set_up(&sides[i]);
  struct tcp_pcb *listener = tcp_new(), *pcb = tcp_new();
  tcp_bind(listener, &address[1], 7);
  listener = tcp_listen(listener), tcp_accept(listener, accepted);
  tcp_bind(pcb, &address[0], 4000);
  tcp_connect(pcb, &address[1], 7, connected);
  while (client == NULL || server == NULL) if (deliver(0) + deliver(1) == 0) abort();
  round_trips(COUNT);

  uint64_t least = UINT64_MAX, overhead = UINT64_MAX;
  for (int i = 0; i < 1000; i++) {
    uint64_t a = __rdtsc(), b = __rdtsc();
    if (b - a < overhead) overhead = b - a;
  }
  unsigned long sent = 1;
  for (int run = 0; run < 9; run++) {
    inside = 0, calls = 0, packets = 0;
    round_trips(COUNT);
    uint64_t spent = inside - (calls + packets) * overhead;
    if (spent < least) least = spent, sent = packets;
  }
  printf("%.0f cycles a packet, %.2f packets a round trip\n", (double)least / (double)sent, (double)sent / COUNT);
  return 0;
}
