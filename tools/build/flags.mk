# SPDX-License-Identifier: BSD-2-Clause
# Every flag with its reason. SAN=address,undefined|thread|fuzzer makes an instrumented build.

CC ?= gcc
CLANG ?= clang
PKG_CONFIG ?= pkg-config

CPPFLAGS += -D_GNU_SOURCE                # splice, O_TMPFILE, accept4
CPPFLAGS += -Itools/include -I. -Idaemon # includes are written from these roots

CFLAGS += -std=gnu11                     # the language of the project
CFLAGS += -O2 -g                         # optimised, yet a core dump can be read
CFLAGS += -fno-omit-frame-pointer        # profilers and sanitizers walk the stack
CFLAGS += -ffunction-sections -fdata-sections # programs carry only what they use
CFLAGS += -fstack-protector-strong       # an overrun ends the process, not the data
CFLAGS += -fvisibility=hidden            # a library exports what it says
CFLAGS += -pthread
CFLAGS += -Wall -Wextra                  # the usual
CFLAGS += -Wshadow                       # one name, one thing
CFLAGS += -Wvla                          # sizes a peer chose never move the stack
CFLAGS += -Wundef                        # a misspelt macro is not 0
CFLAGS += -Wformat=2                     # formats are literals
CFLAGS += -Wstrict-prototypes -Wmissing-prototypes # every function has one declaration
CFLAGS += -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough
CFLAGS += -Wdate-time                    # builds repeat bit by bit
CFLAGS += -Wno-unused-parameter          # callbacks share a shape
CFLAGS += -Werror                        # a warning is a defect

LDFLAGS += -Wl,--gc-sections -Wl,-z,relro,-z,now -pthread

ifneq ($(SAN),)
ifeq ($(SAN),fuzzer)
CC := $(CLANG)
CFLAGS += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDFLAGS += -fsanitize=address,undefined
else
CFLAGS += -fsanitize=$(SAN) -fno-sanitize-recover=all
LDFLAGS += -fsanitize=$(SAN)
endif
else
CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 # checked string functions
endif
