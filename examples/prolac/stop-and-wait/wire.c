/* wire.c: loses and damages packets, the same ones in every run. */
#include <string.h>
#include "wire.h"

enum { ROOM = 8 };

int wire_loss, wire_damage;

static struct { struct packet packets[ROOM]; unsigned first, count; } queues[2];

/* The same numbers in every run. */
static int one_of(int percent)
{
	static unsigned state = 1;
	state = state * 1103515245u + 12345u;
	return (int)(state >> 16) % 100 < percent;
}

void wire_send(int end, const void *packet)
{
	int to = 1 - end;
	if (one_of(wire_loss) || queues[to].count == ROOM)
		return;
	struct packet *p = &queues[to].packets[(queues[to].first + queues[to].count++) % ROOM];
	memcpy(p, packet, sizeof *p);
	if (one_of(wire_damage))
		p->data[p->length / 2] ^= 4;
}

int wire_receive(int end, void *packet)
{
	if (queues[end].count == 0)
		return 0;
	memcpy(packet, &queues[end].packets[queues[end].first], sizeof(struct packet));
	queues[end].first = (queues[end].first + 1) % ROOM;
	queues[end].count--;
	return 1;
}
