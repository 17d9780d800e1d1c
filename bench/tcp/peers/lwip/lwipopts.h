/* lwIP for the comparison: no operating system, IPv4 and TCP only, large windows, checksums only if the
   kernel does not do them (PLAIN). */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H
#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_IPV4 1
#define LWIP_IPV6 0
#define LWIP_ARP 0
#define LWIP_ETHERNET 0
#define LWIP_ICMP 1
#define LWIP_UDP 0
#define LWIP_TCP 1
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1
#define MEM_ALIGNMENT 8
#define LWIP_WND_SCALE 1
#define TCP_RCV_SCALE 6
#define TCP_MSS 1460
#define TCP_WND (3 * 1024 * 1024)
#define TCP_SND_BUF (3 * 1024 * 1024)
#define TCP_SND_QUEUELEN 65000
#define MEMP_NUM_TCP_SEG 65000
#define TCP_SNDLOWAT (0xFFFF - 5 * TCP_MSS)
#define TCP_SNDQUEUELOWAT 30000
#define TCP_OVERSIZE TCP_MSS
#define TCP_QUEUE_OOSEQ 1
#define LWIP_TCP_TIMESTAMPS 0
#define LWIP_TCP_SACK_OUT 1
#define LWIP_CHECKSUM_ON_COPY PLAIN
#define CHECKSUM_GEN_TCP PLAIN
#define CHECKSUM_CHECK_TCP PLAIN
#define CHECKSUM_CHECK_IP 0
#define LWIP_STATS 0
#define LWIP_NOASSERT 1
#define LWIP_TCP_PCB_NUM_EXT_ARGS 0
#define LWIP_TIMERS 1
#endif
