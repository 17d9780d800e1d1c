/* tail.h: made by prolacc. Change the Prolac source, not this file. */
#ifndef PROLAC_TAIL_H
#define PROLAC_TAIL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number on a circle: a is before b if (int)(a - b) < 0. */
typedef uint32_t seqint;

typedef struct L L;

/* L, tail.pc:7 */
struct L {
	L *next;
	int v;
};

/* The layouts are those of x86_64: a C compiler for another machine must say so. */
#ifdef __cplusplus
#define ASSERT__LAYOUT static_assert
#else
#define ASSERT__LAYOUT _Static_assert
#endif
ASSERT__LAYOUT(offsetof(struct L, next) == 0, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct L, v) == 8, "laid out for x86_64");
ASSERT__LAYOUT(sizeof(struct L) == 16, "laid out for x86_64");
#undef ASSERT__LAYOUT

/* L.len(n :> int) :> int, tail.pc:10 */
int len__L(L *This, int n);

/* L.holds(x :> int) :> bool, tail.pc:11 */
int holds__L(L *This, int x);

/* L.each, tail.pc:12 */
void each__L(L *This);

/* static Main.gcd(a :> int, b :> int) :> int, tail.pc:15 */
int gcd__Main(int a, int b);

/* static Main.rotate(a :> int, b :> int, c :> int, n :> int) :> int, tail.pc:16 */
int rotate__Main(int a, int b, int c, int n);

#ifdef __cplusplus
}
#endif

#endif /* PROLAC_TAIL_H */
