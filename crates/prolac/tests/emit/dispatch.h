/* dispatch.h: made by prolacc. Change the Prolac source, not this file. */
#ifndef PROLAC_DISPATCH_H
#define PROLAC_DISPATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number on a circle: a is before b if (int)(a - b) < 0. */
typedef uint32_t seqint;

typedef struct Base__T Base__T;
typedef struct Ext__T Ext__T;
typedef Base__T Old;

/* How the methods of Base.T are found. */
struct Base__T__table {
	int (*hook)(Base__T *This);
};

/* Base.T, dispatch.pc:4 */
struct __attribute__((may_alias)) Base__T {
	const struct Base__T__table *table__Base__T;
	int x;
	uint8_t flag;
};

/* Ext.T, dispatch.pc:11 */
struct __attribute__((may_alias)) Ext__T {
	const struct Base__T__table *table__Base__T;
	int x;
	uint8_t flag;
	uint8_t more;
};

/* The layouts are those of x86_64: a C compiler for another machine must say so. */
#ifdef __cplusplus
#define ASSERT__LAYOUT static_assert
#else
#define ASSERT__LAYOUT _Static_assert
#endif
ASSERT__LAYOUT(offsetof(struct Base__T, table__Base__T) == 0, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Base__T, x) == 8, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Base__T, flag) == 12, "laid out for x86_64");
ASSERT__LAYOUT(sizeof(struct Base__T) == 16, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Ext__T, table__Base__T) == 0, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Ext__T, x) == 8, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Ext__T, flag) == 12, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Ext__T, more) == 13, "laid out for x86_64");
ASSERT__LAYOUT(sizeof(struct Ext__T) == 16, "laid out for x86_64");
#undef ASSERT__LAYOUT

/* static Main.use(t :> *Base.T) :> int, dispatch.pc:18 */
int use__Main(Base__T *t);

/* static Main.run :> int, dispatch.pc:19 */
int run__Main(void);

/* Ext.T.constructor(n :> int), dispatch.pc:13 */
void constructor__Ext__T(Ext__T *This, int n);

#ifdef __cplusplus
}
#endif

#endif /* PROLAC_DISPATCH_H */
