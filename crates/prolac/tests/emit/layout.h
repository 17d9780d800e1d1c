/* layout.h: made by prolacc. Change the Prolac source, not this file. */
#ifndef PROLAC_LAYOUT_H
#define PROLAC_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number on a circle: a is before b if (int)(a - b) < 0. */
typedef uint32_t seqint;

typedef struct Hdr Hdr;

/* Hdr, layout.pc:4 */
struct __attribute__((may_alias)) Hdr {
	int16_t T__keep;
	seqint seq;
	int unix_2;
	Hdr *linux_2;
	unsigned char gap_1[18];
	uint16_t port;
};

/* The layouts are those of x86_64: a C compiler for another machine must say so. */
#ifdef __cplusplus
#define ASSERT__LAYOUT static_assert
#else
#define ASSERT__LAYOUT _Static_assert
#endif
ASSERT__LAYOUT(offsetof(struct Hdr, T__keep) == 0, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Hdr, seq) == 4, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Hdr, unix_2) == 8, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Hdr, linux_2) == 16, "laid out for x86_64");
ASSERT__LAYOUT(offsetof(struct Hdr, port) == 42, "laid out for x86_64");
ASSERT__LAYOUT(sizeof(struct Hdr) == 48, "laid out for x86_64");
#undef ASSERT__LAYOUT

/* Hdr.sum :> int, layout.pc:10 */
int sum__Hdr(Hdr *This);

#ifdef __cplusplus
}
#endif

#endif /* PROLAC_LAYOUT_H */
