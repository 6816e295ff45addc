# Prints the header's declarations, without comments and preprocessor lines: `sed -E -f cdef.sed include/sealwax.h`.
# An enum holds no 64 bits everywhere: SEALWAX_NEVER is left out, the largest uint64_t.
/^#ifdef __cplusplus/,/^#endif/d
/^ *\/\//d
s/^#define ([A-Z0-9_]+) ([0-9]+)$/enum { \1 = \2 };/
/^#/d
/^$/d
