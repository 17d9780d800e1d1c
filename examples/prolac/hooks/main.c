/* main.c: calls the programs of this directory. See chain/tcb.pc and hookup/main.pc. */
#include "hooks.h"

int main(void)
{
	run__Main();
	return 0;
}
