/* SPDX-License-Identifier: BSD-2-Clause */
/* Name templates: three notations, one form inside. */
#include <stdio.h>

#include "api/template.h"
#include "base/text.h"

#define DIGITS_MAX 18

static int bad(char *err, size_t size, const char *text, const char *why)
{
	snprintf(err, size, "invalid template \"%.200s\": %s", text, why);
	return -EINVAL;
}

/* Digits [s, s+n) as a number. */
static int number(const char *s, size_t n, uint64_t *ret)
{
	char digits[DIGITS_MAX + 1];

	if (!n || n > DIGITS_MAX)
		return -EINVAL;
	memcpy(digits, s, n);
	digits[n] = 0;
	return parse_u64(digits, ret);
}

/* "START..END" or "START..END..STEP" without the braces. */
static int brace_range(const char *s, size_t n, struct template_range *r)
{
	const char *end = s + n, *dots = memmem(s, n, "..", 2), *more;
	size_t w1, w2;

	if (!dots)
		return -EINVAL;
	w1 = (size_t)(dots - s);
	dots += 2;
	more = memmem(dots, (size_t)(end - dots), "..", 2);
	w2 = (size_t)((more ? more : end) - dots);
	r->step = 1;
	if (number(s, w1, &r->start) < 0 || number(dots, w2, &r->end) < 0)
		return -EINVAL;
	if (more && number(more + 2, (size_t)(end - more - 2), &r->step) < 0)
		return -EINVAL;
	r->width = (unsigned int)(w1 < w2 ? w1 : w2);
	return r->step && r->start <= r->end ? 0 : -EINVAL;
}

/* "%0Nd", after the '%'. Return: bytes taken; 0 when it is something else. */
static size_t percent_range(const char *s, struct template_range *r)
{
	uint64_t width = 0, i;
	size_t n = *s == '0';

	while (n && s[n] >= '0' && s[n] <= '9' && n < 4)
		width = width * 10 + (uint64_t)(s[n++] - '0');
	if (!width || width > DIGITS_MAX || s[n] != 'd')
		return 0;
	*r = (struct template_range){.end = 1, .step = 1, .width = (unsigned int)width};
	for (i = 0; i < width; i++)
		r->end *= 10;
	r->end--;
	return n + 1;
}

/* "@N", after the '@': 0 to N. Return: bytes taken; 0 when it is something else. */
static size_t at_range(const char *s, struct template_range *r)
{
	size_t n = strspn(s, "0123456789");

	*r = (struct template_range){.step = 1, .width = (unsigned int)n};
	return number(s, n, &r->end) < 0 ? 0 : n;
}

/*
 * The range that begins at @s[0] in notation @mark: bytes it takes; 0: none; -EINVAL malformed.
 */
static int range_at(const char *s, char mark, struct template_range *r)
{
	const char *close;

	if (*s != mark)
		return 0;
	if (mark == '%') {
		size_t n = percent_range(s + 1, r);

		return n ? (int)n + 1 : 0;
	}
	if (mark == '@') {
		size_t n = at_range(s + 1, r);

		return n ? (int)n + 1 : 0;
	}
	close = strchr(s, '}');
	if (!close || brace_range(s + 1, (size_t)(close - s - 1), r) < 0)
		return -EINVAL;
	return (int)(close - s + 1);
}

/* Find the ranges of one notation. */
static int scan(struct template *t, char mark)
{
	size_t i = 0, literal = 0;

	while (t->text[i]) {
		struct template_range r = {};
		int n = range_at(t->text + i, mark, &r);

		if (n < 0)
			return n;
		if (!n) {
			i++;
			continue;
		}
		if (t->n_ranges == TEMPLATE_RANGES_MAX)
			return -E2BIG;
		if (!t->n_ranges)
			t->prefix_len = i;
		else
			t->range[t->n_ranges - 1].gap_len = i - literal;
		i += (size_t)n;
		literal = i;
		r.gap = i;
		r.now = r.start;
		t->range[t->n_ranges++] = r;
	}
	if (t->n_ranges)
		t->range[t->n_ranges - 1].gap_len = i - literal;
	else
		t->prefix_len = i;
	return 0;
}

static unsigned int digits_of(uint64_t v)
{
	unsigned int n = 1;

	while (v >= 10) {
		v /= 10;
		n++;
	}
	return n;
}

/* How many names, and whether the longest fits. */
static int measure(struct template *t)
{
	size_t len = t->prefix_len, i;

	t->count = 1;
	for (i = 0; i < t->n_ranges; i++) {
		const struct template_range *r = &t->range[i];
		unsigned int digits = digits_of(r->end);
		uint64_t n = (r->end - r->start) / r->step + 1;

		if (__builtin_mul_overflow(t->count, n, &t->count) || t->count > TEMPLATE_NAMES_MAX)
			return -ERANGE;
		len += r->gap_len + (digits > r->width ? digits : r->width);
	}
	return len > TEMPLATE_LEN_MAX ? -ENAMETOOLONG : 0;
}

int template_parse(const char *text, struct template *ret, char *err, size_t err_size)
{
	static const char marks[] = {'{', '%', '@'};
	struct template t = {};
	size_t len = strlen(text), i;
	int r = 0;

	if (len > TEMPLATE_LEN_MAX)
		return bad(err, err_size, text, "it is over 1024 bytes");
	memcpy(t.text, text, len + 1);
	for (i = 0; !r && !t.n_ranges && i < sizeof(marks); i++)
		r = scan(&t, marks[i]);
	if (r == -E2BIG)
		return bad(err, err_size, text, "over 8 ranges");
	if (r < 0)
		return bad(err, err_size, text,
			   "expected {START..END} or {START..END..STEP} of whole numbers");
	r = t.n_ranges ? measure(&t) : 0;
	if (r == -ERANGE)
		return bad(err, err_size, text, "over 10000000 names");
	if (r < 0)
		return bad(err, err_size, text, "a name would be over 1024 bytes");
	if (!t.n_ranges) {
		t.count = 0;
		t.done = true;
		if (len && t.text[len - 1] == '*')
			t.text[--t.prefix_len] = 0;
	}
	*ret = t;
	return 0;
}

static void advance(struct template *t)
{
	size_t i = t->n_ranges;

	while (i--) {
		struct template_range *r = &t->range[i];

		if (r->end - r->now >= r->step) {
			r->now += r->step;
			return;
		}
		r->now = r->start;
	}
	t->done = true;
}

bool template_next(struct template *t, char out[TEMPLATE_LEN_MAX + 1])
{
	size_t len = t->prefix_len, i;

	if (t->done)
		return false;
	memcpy(out, t->text, len);
	for (i = 0; i < t->n_ranges; i++) {
		const struct template_range *r = &t->range[i];

		len += (size_t)snprintf(out + len, TEMPLATE_LEN_MAX + 1 - len, "%0*llu",
					(int)r->width, (unsigned long long)r->now);
		memcpy(out + len, t->text + r->gap, r->gap_len);
		len += r->gap_len;
	}
	out[len] = 0;
	advance(t);
	return true;
}
