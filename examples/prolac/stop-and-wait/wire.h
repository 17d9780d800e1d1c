/* wire.h: a wire between end 0 and end 1, in memory. See transfer.pc. */
#ifndef WIRE_H
#define WIRE_H

struct packet {
	unsigned char kind, length;
	unsigned short sum;
	unsigned seqno;
	unsigned char data[32];
};

extern int wire_loss, wire_damage;            /* how many packets of 100 are lost, or damaged */

void wire_send(int end, const void *packet);  /* to the other end */
int wire_receive(int end, void *packet);      /* whether there was one */
void received(const void *data, int length);  /* what the receiver calls */

#endif
