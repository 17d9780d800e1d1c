/* exceptions.h: made by prolacc. Change the Prolac source, not this file. */
#ifndef PROLAC_EXCEPTIONS_H
#define PROLAC_EXCEPTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A number on a circle: a is before b if (int)(a - b) < 0. */
typedef uint32_t seqint;

/* What a function returns when an exception leaves it. */
enum {
	M__a_drop = -1,	/* M.a-drop, exceptions.pc:5 */
	M__drop = -2,	/* M.drop, exceptions.pc:6 */
	M__bad = -3,	/* M.bad, exceptions.pc:7 */
};

extern int M__log;	/* M.log, exceptions.pc:8 */

/* static M.run(x :> int) :> int, exceptions.pc:10 */
int run__M(int x);

/* static M.first(x :> int) :> bool, exceptions.pc:15
   returns M__bad when M.bad leaves it */
int first__M(int x);

#ifdef __cplusplus
}
#endif

#endif /* PROLAC_EXCEPTIONS_H */
