/* The same loop with glibc's vector functions, which gcc takes by itself only with -ffast-math. Under names of their own
   the compiler does not know them, and so does not merge sin and cos into one call that has no vector version. */
#define SIMD __attribute__((simd("notinbranch"), const, nothrow, leaf))
SIMD double vector_tanh(double) __asm__("tanh");
SIMD double vector_sin(double) __asm__("sin");
SIMD double vector_cos(double) __asm__("cos");
SIMD double vector_exp(double) __asm__("exp");
SIMD double vector_log(double) __asm__("log");

#define tanh vector_tanh
#define sin vector_sin
#define cos vector_cos
#define exp vector_exp
#define log vector_log
#define VECTORISED
#define NAME chain_kernel_vectorised
#include "chain.c"
