/* lwIP with the three services on a TUN device that is already set up: lwip-serve DEVICE ADDRESS GATEWAY.
   It gets from the device what the others get: packets of up to 64 KiB whose checksums need not be looked at, checksums of
   its own completed by the kernel. With PLAIN it reads and writes bare packets. */
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "lwip/init.h"
#include "lwip/ip.h"
#include "lwip/netif.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"

static int tun;
static char text[65536];

u32_t sys_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (u32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

static int tun_open(const char *name) {
  struct ifreq request;
  int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  memset(&request, 0, sizeof request);
  strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI | (PLAIN ? 0 : IFF_VNET_HDR);
  if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0 || ioctl(fd, TUNSETOFFLOAD, PLAIN ? 0 : TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) < 0) {
    perror(name);
    exit(1);
  }
  return fd;
}

/* The sum of the pseudo-header, which the kernel completes. */
static void prepare(struct virtio_net_hdr *header, uint8_t *packet, unsigned length) {
  unsigned tcp = (packet[0] & 15) * 4, sum = 6 + length - tcp, i;
  memset(header, 0, sizeof *header);
  if (packet[9] != 6)
    return;
  for (i = 12; i < 20; i += 2)
    sum += packet[i] << 8 | packet[i + 1];
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  packet[tcp + 16] = sum >> 8;
  packet[tcp + 17] = sum;
  header->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
  header->csum_start = tcp;
  header->csum_offset = 16;
}

static err_t output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to) {
  struct virtio_net_hdr header;
  struct iovec pieces[16] = {{&header, sizeof header}};
  int count = 1;
  (void)netif;
  (void)to;
  if (!PLAIN)
    prepare(&header, p->payload, p->tot_len);
  for (; p && count < 16; p = p->next)
    pieces[count++] = (struct iovec){p->payload, p->len};
  return writev(tun, pieces + PLAIN, count - PLAIN) < 0 ? ERR_IF : ERR_OK;
}

static err_t netif_start(struct netif *netif) {
  netif->output = output;
  netif->mtu = 1500;
  netif->flags |= NETIF_FLAG_LINK_UP;
  return ERR_OK;
}

/* Reads a packet into lwIP; 0 if there is none. */
static int input(struct netif *netif) {
  static struct pbuf *p;
  struct virtio_net_hdr header;
  ssize_t length;
  if (!p)
    p = pbuf_alloc(PBUF_RAW, 65500, PBUF_RAM);
  struct iovec pieces[2] = {{&header, sizeof header}, {p->payload, p->len}};
  length = readv(tun, pieces + PLAIN, 2 - PLAIN) - (PLAIN ? 0 : (ssize_t)sizeof header);
  if (length <= 0)
    return 0;
  pbuf_realloc(p, (u16_t)length);
  if (netif->input(p, netif) != ERR_OK)
    pbuf_free(p);
  p = NULL;
  return 1;
}

static void chargen(struct tcp_pcb *pcb) {
  u32_t room;
  while ((room = tcp_sndbuf(pcb)) > 0) {
    if (tcp_write(pcb, text, (u16_t)(room < 65000 ? room : 65000), TCP_WRITE_FLAG_COPY) != ERR_OK)
      break;
  }
  tcp_output(pcb);
}

static err_t sent(void *port, struct tcp_pcb *pcb, u16_t length) {
  (void)port;
  (void)length;
  chargen(pcb);
  return ERR_OK;
}

static err_t received(void *port, struct tcp_pcb *pcb, struct pbuf *p, err_t error) {
  struct pbuf *q;
  (void)error;
  if (!p) {
    tcp_close(pcb);
    return ERR_OK;
  }
  if ((uintptr_t)port == 7) {
    for (q = p; q; q = q->next)
      tcp_write(pcb, q->payload, q->len, TCP_WRITE_FLAG_COPY);
    tcp_output(pcb);
  }
  tcp_recved(pcb, p->tot_len);
  pbuf_free(p);
  return ERR_OK;
}

static err_t accepted(void *port, struct tcp_pcb *pcb, err_t error) {
  (void)error;
  tcp_arg(pcb, port);
  tcp_nagle_disable(pcb);
  tcp_recv(pcb, received);
  if ((uintptr_t)port == 19) {
    tcp_sent(pcb, sent);
    chargen(pcb);
  }
  return ERR_OK;
}

static void serve(uintptr_t port) {
  struct tcp_pcb *pcb = tcp_new();
  tcp_bind(pcb, IP_ADDR_ANY, (u16_t)port);
  pcb = tcp_listen(pcb);
  tcp_arg(pcb, (void *)port);
  tcp_accept(pcb, accepted);
}

int main(int count, char **words) {
  struct netif netif;
  ip4_addr_t address, mask, gateway;
  if (count != 4)
    return 2;
  tun = tun_open(words[1]);
  lwip_init();
  ip4addr_aton(words[2], &address);
  ip4addr_aton("255.255.255.0", &mask);
  ip4addr_aton(words[3], &gateway);
  netif_add(&netif, &address, &mask, &gateway, NULL, netif_start, ip_input);
  netif_set_default(&netif);
  netif_set_up(&netif);
  serve(7);
  serve(9);
  serve(19);
  for (;;) {
    u32_t limit;
    struct pollfd fd = {tun, POLLIN, 0};
    while (input(&netif))
      ;
    sys_check_timeouts();
    limit = sys_timeouts_sleeptime();
    poll(&fd, 1, limit == SYS_TIMEOUTS_SLEEPTIME_INFINITE ? -1 : (int)limit);
  }
}
