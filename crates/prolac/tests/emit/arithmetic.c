/* arithmetic.c: made by prolacc. Change the Prolac source, not this file. */
#include "arithmetic.h"

static int next__M(void);

int M__n;

/* M.next */
static int next__M(void)
{
	M__n += 1u;
	return M__n;
}

/* M.add */
int add__M(int a, int b)
{
	return (uint32_t)a + b;
}

/* M.narrow */
int narrow__M(uint8_t a, uint8_t b)
{
	return a + b;
}

/* M.before */
int before__M(seqint a, seqint b)
{
	return (int)(a - b) < 0;
}

/* M.order */
int order__M(int x)
{
	M__n = x;
	int value = M__n * 10u;
	int value_2 = (uint32_t)value - next__M();
	int value_3 = (uint32_t)value_2 - next__M();
	return (uint32_t)value_3 + (x == 3 ? (int)(M__n + 1u) : 0);
}

/* M.shifts */
int shifts__M(int a, int by)
{
	return ((uint32_t)a << (by & 31)) + (a >> (by & 31));
}

/* M.wide */
int64_t wide__M(int a, uint32_t b)
{
	int64_t l = a;
	return (uint64_t)l + b;
}
