/* layout.c: made by prolacc. Change the Prolac source, not this file. */
#include "layout.h"

/* Hdr.sum */
int sum__Hdr(Hdr *This)
{
	return This->seq + This->T__keep + This->port + This->unix_2;
}
