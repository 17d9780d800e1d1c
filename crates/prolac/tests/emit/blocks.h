/* blocks.h: made by prolacc. Change the Prolac source, not this file. */
#ifndef PROLAC_BLOCKS_H
#define PROLAC_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number on a circle: a is before b if (int)(a - b) < 0. */
typedef uint32_t seqint;

typedef struct B B;

/* B, blocks.pc:8 */
struct B {
	uint32_t len;
};

/* The layouts are those of x86_64: a C compiler for another machine must say so. */
#ifdef __cplusplus
#define ASSERT__LAYOUT static_assert
#else
#define ASSERT__LAYOUT _Static_assert
#endif
ASSERT__LAYOUT(offsetof(struct B, len) == 0, "laid out for x86_64");
ASSERT__LAYOUT(sizeof(struct B) == 4, "laid out for x86_64");
#undef ASSERT__LAYOUT

/* B.grow :> uint, blocks.pc:11 */
uint32_t grow__B(B *This);

/* static B.now :> int, blocks.pc:19 */
int now__B(void);

#ifdef __cplusplus
}
#endif

#endif /* PROLAC_BLOCKS_H */
