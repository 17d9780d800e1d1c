/* tail.c: made by prolacc. Change the Prolac source, not this file. */
#include "tail.h"

#include <stdio.h>

static inline int remainder__int(int a, int b)
{
	if (b == 0)
		__builtin_trap();
	if (b == -1)
		return 0;
	return a % b;
}

/* L.len */
int len__L(L *This, int n)
{
	for (;;) {
		if (This->next == NULL)
			return n + 1u;
		This = This->next;
		n = n + 1u;
	}
}

/* L.holds */
int holds__L(L *This, int x)
{
	for (;;) {
		if (This->v == x)
			return 1;
		if (!This->next)
			return 0;
		This = This->next;
	}
}

/* L.each */
void each__L(L *This)
{
	for (;;) {
		printf("%d ", This->v);
		if (!This->next)
			return;
		This = This->next;
	}
}

/* Main.gcd */
int gcd__Main(int a, int b)
{
	for (;;) {
		if (b == 0)
			return a;
		int next_a = b;
		int next_b = remainder__int(a, b);
		a = next_a;
		b = next_b;
	}
}

/* Main.rotate */
int rotate__Main(int a, int b, int c, int n)
{
	for (;;) {
		if (n == 0)
			return a * 100u + b * 10u + c;
		n = n - 1u;
		int next_a = b;
		int next_b = c;
		c = a;
		a = next_a;
		b = next_b;
	}
}
