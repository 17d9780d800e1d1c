/* main.c: calls hello.pc, which says how to compile both. */
#include <stdio.h>
#include "hello.h"

int main(void)
{
	puts(greeting__Hello(0));
}
