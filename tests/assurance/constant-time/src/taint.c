/* From Debian's package valgrind. Outside of valgrind it does nothing. */
#include <stddef.h>
#include <valgrind/memcheck.h>

void taint(const void *bytes, size_t len) { (void)VALGRIND_MAKE_MEM_UNDEFINED(bytes, len); }
