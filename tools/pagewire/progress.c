/* SPDX-License-Identifier: BSD-2-Clause */
/* A progress line on stderr, drawn on terminals only. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bits.h"
#include "base/text.h"
#include "out.h"
#include "progress.h"

#define FIRST_NS INT64_C(500000000) /* quick transfers draw nothing */
#define EACH_NS INT64_C(100000000)
#define BAR 24
#define LABEL 40

void progress_start(struct progress *p, bool quiet)
{
	*p = (struct progress){.on = !quiet && isatty(STDERR_FILENO), .start_ns = mono_ns()};
	p->next_ns = p->start_ns + FIRST_NS;
}

static void draw_bar(uint64_t done, uint64_t total)
{
	char bar[BAR + 1];
	double part = MIN((double)done / (double)total, 1.0);

	memset(bar, ' ', BAR);
	memset(bar, '#', (size_t)(part * BAR));
	bar[BAR] = 0;
	fprintf(stderr, "[%s] %3.0f%%  ", bar, part * 100);
}

static void draw_label(const char *what)
{
	size_t i;

	for (i = 0; i < LABEL && what[i]; i++)
		fputc((unsigned char)what[i] < 0x20 || what[i] == 0x7f ? '?' : what[i], stderr);
}

void progress_show(struct progress *p, const char *what, uint64_t done, uint64_t total)
{
	char size[32], rate[32];
	int64_t now;
	double s;

	if (!p->on)
		return;
	now = mono_ns();
	if (now < p->next_ns)
		return;
	p->next_ns = now + EACH_NS;
	p->drawn = true;
	s = (double)(now - p->start_ns) / 1e9;
	fputs("\r\033[K", stderr);
	if (total)
		draw_bar(done, total);
	fprintf(stderr, "%s  %s/s  ", out_bytes(done, size),
		out_bytes((unsigned long long)((double)done / s), rate));
	draw_label(what);
	fflush(stderr);
}

void progress_wipe(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
