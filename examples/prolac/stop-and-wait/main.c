/* main.c: sends a text through transfer.pc, which says how to compile it. Arguments: packets lost and damaged, in percent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "transfer.h"
#include "wire.h"

static const char text[] =
	"It is a truth universally acknowledged, that a single man in possession of a good fortune, "
	"must be in want of a wife. However little known the feelings or views of such a man may be "
	"on his first entering a neighbourhood, this truth is so well fixed in the minds of the "
	"surrounding families, that he is considered the rightful property of some one or other of "
	"their daughters.";

static char copy[sizeof text + 64];
static size_t copied;

void received(const void *data, int length)
{
	memcpy(copy + copied, data, length);
	copied += length;
}

int main(int argc, char **argv)
{
	wire_loss = argc > 1 ? atoi(argv[1]) : 0;
	wire_damage = argc > 2 ? atoi(argv[2]) : 0;
	start__Transfer();
	int ticks = 0;
	for (size_t given = 0; given < sizeof text || !ready__Transfer(); ticks++) {
		if (ready__Transfer() && given < sizeof text) {
			int n = sizeof text - given < 32 ? sizeof text - given : 32;
			give__Transfer((unsigned char *)text + given, n);
			given += n;
		}
		tick__Transfer();
	}
	printf("%s: %d ticks, %d sent again\n", memcmp(copy, text, sizeof text) ? "damaged" : "complete",
	       ticks, Transfer__sender.resent);
}
