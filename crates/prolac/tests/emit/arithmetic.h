/* arithmetic.h: made by prolacc. Change the Prolac source, not this file. */
#ifndef PROLAC_ARITHMETIC_H
#define PROLAC_ARITHMETIC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number on a circle: a is before b if (int)(a - b) < 0. */
typedef uint32_t seqint;

extern int M__n;	/* M.n, arithmetic.pc:5 */

/* static M.add(a :> int, b :> int) :> int, arithmetic.pc:7 */
int add__M(int a, int b);

/* static M.narrow(a :> uchar, b :> uchar) :> int, arithmetic.pc:8 */
int narrow__M(uint8_t a, uint8_t b);

/* static M.before(a :> seqint, b :> seqint) :> bool, arithmetic.pc:9 */
int before__M(seqint a, seqint b);

/* static M.order(x :> int) :> int, arithmetic.pc:10 */
int order__M(int x);

/* static M.shifts(a :> int, by :> int) :> int, arithmetic.pc:11 */
int shifts__M(int a, int by);

/* static M.wide(a :> int, b :> uint) :> long, arithmetic.pc:12 */
int64_t wide__M(int a, uint32_t b);

#ifdef __cplusplus
}
#endif

#endif /* PROLAC_ARITHMETIC_H */
