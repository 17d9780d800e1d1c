/* The segments that both programs receive. */
#include <stdint.h>

struct segment {
    uint32_t seqno, ackno, window, length, flags;
};
enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
