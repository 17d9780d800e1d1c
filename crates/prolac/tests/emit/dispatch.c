/* dispatch.c: made by prolacc. Change the Prolac source, not this file. */
#include "dispatch.h"

static void constructor__Base__T(Base__T *This, int n);
static int hook__Base__T(Base__T *This);
static void copy_from__Base__T(Base__T *This, Base__T *other);
static void constructor__Ext__T__part(Ext__T *This, int n);
static int hook__Ext__T(Ext__T *This);
static int hook__Ext__T__as__Base__T(Base__T *This);

static const struct Base__T__table Base__T__as__Base__T = {
	.hook = hook__Base__T,
};

static const struct Base__T__table Ext__T__as__Base__T = {
	.hook = hook__Ext__T__as__Base__T,
};

static inline void assign__Base__T(Base__T *to, Base__T from)
{
	to->x = from.x;
	to->flag = from.flag;
}

/* Base.T.constructor */
static void constructor__Base__T(Base__T *This, int n)
{
	This->x = n;
	This->flag = 0;
}

/* Base.T.hook */
static int hook__Base__T(Base__T *This)
{
	return This->x;
}

/* Base.T.copy-from */
static void copy_from__Base__T(Base__T *This, Base__T *other)
{
	Base__T *me;
	me = This;
	assign__Base__T(me, *other);
}

/* Ext.T.constructor */
static void constructor__Ext__T__part(Ext__T *This, int n)
{
	constructor__Base__T((Base__T *)This, n * 5u);
	This->more = 1;
}

void constructor__Ext__T(Ext__T *This, int n)
{
	This->table__Base__T = &Ext__T__as__Base__T;
	constructor__Ext__T__part(This, n);
}

/* Ext.T.hook */
static int hook__Ext__T(Ext__T *This)
{
	return (uint32_t)hook__Base__T((Base__T *)This) + This->more;
}

/* Main.use */
int use__Main(Base__T *t)
{
	return t->table__Base__T->hook(t);
}

/* Main.run */
int run__Main(void)
{
	Ext__T a;
	a.table__Base__T = &Ext__T__as__Base__T;
	constructor__Ext__T__part(&a, 20);
	Base__T b;
	b.table__Base__T = &Base__T__as__Base__T;
	constructor__Base__T(&b, 11);
	copy_from__Base__T((Base__T *)&a, &b);
	return use__Main((Base__T *)&a) + use__Main(&b) * 10u + 90;
}

static int hook__Ext__T__as__Base__T(Base__T *This)
{
	return hook__Ext__T((Ext__T *)This);
}
