/* blocks.c: made by prolacc. Change the Prolac source, not this file. */
#include "blocks.h"

#line 5 "blocks.pc"
#include <stdio.h>
static int clock_now(void) { return 3; }
#line 8 "blocks.c"

/* B.grow */
#line 11 "blocks.pc"
uint32_t grow__B(B *This)
{
#line 12
	uint32_t n;
#line 12
	{
		unsigned i;

		n = 0;
		for (i = 0; i < This->len; i++)
		  n += i;
	}
#line 18
	return n;
}

#line 28 "blocks.c"
/* B.now */
#line 19 "blocks.pc"
int now__B(void)
{
#line 19
	int t;
#line 19
	t = clock_now() + 10;
#line 19
	return t;
}
