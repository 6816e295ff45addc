# Where the files of the C library stand, on every platform: `make install` and `make dist` have it from here.
#
#   make install-files LIBRARIES=FOLDER [TRIPLE=TRIPLE] [PREFIX=/usr/local] [DESTDIR=]
#
# lays out the libraries that cargo has built in FOLDER for a platform, by Rust's name for it, which is this machine's
# unless it is said. Nothing that it writes names a folder outside of the prefix, which may be moved.

TRIPLE ?= $(shell rustc --version --verbose | sed -n 's/^host: //p')
PREFIX ?= /usr/local
DEST = $(DESTDIR)$(PREFIX)
ABI := $(shell sed -n 's/^\#define SEALWAX_ABI_VERSION //p' include/sealwax.h)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' $(ROOT)/Cargo.toml)

# BUILT is the shared library as cargo and linkers name it; SHARED is where programs load it from.
ifneq ($(findstring windows,$(TRIPLE)),)
BUILT := sealwax.dll
SHARED := bin/sealwax.dll
LINKED_AS := IMPORTED_IMPLIB "$${_sealwax_prefix}/lib/sealwax.lib"
PRIVATE_LIBS := -lkernel32 -lntdll -luserenv -lws2_32 -ldbghelp $(if $(findstring gnullvm,$(TRIPLE)),-lunwind)
else ifneq ($(findstring apple,$(TRIPLE)),)
BUILT := libsealwax.dylib
SHARED := lib/libsealwax.$(ABI).dylib
LINKED_AS := IMPORTED_SONAME "@rpath/libsealwax.$(ABI).dylib"
PRIVATE_LIBS :=
else
BUILT := libsealwax.so
SHARED := lib/libsealwax.so.$(ABI)
LINKED_AS := IMPORTED_SONAME "libsealwax.so.$(ABI)"
# Not -lgcc_s, which has no static form: compilers add it, or libgcc_eh, by themselves.
PRIVATE_LIBS := -lpthread -ldl -lm
endif

EMPTY :=
# What stands in sealwax.pc.in and sealwax-config*.cmake.in: the version; where the shared library stands below the
# prefix; what else CMake must know of it; what a program needs beside the static library, as words and as CMake's list.
FILL := sed -e 's|@VERSION@|$(VERSION)|' -e 's|@SHARED@|$(SHARED)|' -e 's|@LINKED_AS@|$(LINKED_AS)|' \
	-e 's|@PRIVATE@|$(strip $(PRIVATE_LIBS))|' -e 's|@PRIVATE_LIST@|$(subst $(EMPTY) ,;,$(strip $(PRIVATE_LIBS)))|'

.PHONY: install-files
install-files:
	for folder in $(dir $(SHARED)) include lib/pkgconfig lib/cmake/sealwax share/licenses/sealwax; do \
		install -d '$(DEST)'/$$folder || exit 1; \
	done
	install -C -m 644 include/sealwax.h '$(DEST)/include'
	sed -E -f cdef.sed include/sealwax.h > '$(DEST)/include/sealwax.cdef.h'
	install -C -m 644 '$(LIBRARIES)/libsealwax.a' '$(DEST)/lib'
	install -C -m 755 '$(LIBRARIES)/$(BUILT)' '$(DEST)/$(SHARED)'
ifneq ($(findstring windows,$(TRIPLE)),)
	@# One import library, by the names that GNU's and Microsoft's linkers look for.
	install -C -m 644 '$(LIBRARIES)/libsealwax.dll.a' '$(DEST)/lib/libsealwax.dll.a'
	install -C -m 644 '$(LIBRARIES)/libsealwax.dll.a' '$(DEST)/lib/sealwax.lib'
else
	test -e '$(DEST)/lib/$(BUILT)' || ln -sf $(notdir $(SHARED)) '$(DEST)/lib/$(BUILT)'
endif
	$(FILL) sealwax.pc.in > '$(DEST)/lib/pkgconfig/sealwax.pc'
	for file in sealwax-config sealwax-config-version; do \
		$(FILL) $$file.cmake.in > '$(DEST)'/lib/cmake/sealwax/$$file.cmake || exit 1; \
	done
	install -m 644 $(ROOT)/LICENSE-* '$(DEST)/share/licenses/sealwax'
	python3 $(ROOT)/release/crate_notices.py sealwax-c --target $(TRIPLE) \
		> '$(DEST)/share/licenses/sealwax/THIRD-PARTY-NOTICES'
