/* exceptions.c: made by prolacc. Change the Prolac source, not this file. */
#include "exceptions.h"

static int do__M(int x);
static int check__M(int x);

int M__log;

/* M.do */
static int do__M(int x)
{
	M__log = 0;
	if (x == 1)
		return M__a_drop;
	if (x == 2)
		return M__drop;
	M__log += 1u;
	return 0;
}

/* M.run */
int run__M(int x)
{
	int err = do__M(x);
	if (err == M__a_drop)
		goto catch_a_drop;
	if (err < 0)
		goto catch_drop;
	return M__log;
catch_a_drop:
	M__log += 10u;
catch_drop:
	M__log += 100u;
	return M__log;
}

/* M.check */
static int check__M(int x)
{
	if (x > 3)
		return M__bad;
	return x != 0;
}

/* M.first */
int first__M(int x)
{
	int err = check__M(x);
	if (err < 0)
		return err;
	if (!err)
		return 0;
	return check__M(x - 1u);
}
