// A stand-in for libcufile.so.0 with the real ABI: CUfileError_t comes back by value, statistics have the layout of
// 1.15. CUFILE_STANDIN tells how it behaves. Built with OLD it lacks what came after 1.7.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct { int err, cu_err; } CUfileError_t;
typedef struct { int type; union { int fd; void *handle; } h; const void *ops; } CUfileDescr_t;
_Static_assert(sizeof(CUfileDescr_t) == 24, "CUfileDescr_t");

static const char *mode(void) {
	const char *m = getenv("CUFILE_STANDIN");
	return m ? m : "nvfs";
}
static int is(const char *m) { return strcmp(mode(), m) == 0; }
static int strict(void) {
	const char *v = getenv("CUFILE_ALLOW_COMPAT_MODE");
	return v && strcmp(v, "false") == 0;
}
static CUfileError_t answer(int e) { CUfileError_t r = {e, 0}; return r; }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int level;
static struct { uint64_t total, p2p, nvfs, posix, err; } count[2]; // read, write

static void *dies(void *arg) { *(volatile int *)8 = 1; return 0; }

CUfileError_t cuFileDriverOpen(void) {
	if (is("noise")) { printf("libcufile talks on stdout\n"); fflush(stdout); }
	if (is("close0")) close(0);
	if (is("hang-open")) for (;;) pause();
	if (is("exit")) exit(0);
	if (is("exit-code")) exit(5);
	if (is("crash")) *(volatile int *)8 = 1;
	if (is("thread-crash")) { pthread_t t; pthread_create(&t, 0, dies, 0); sleep(5); }
	if (is("broken-json")) { printf("cufile.json does not parse\n"); return answer(-22); }
	if (strict() && (is("posix") || is("no-driver"))) return answer(5001);
	if (is("cuda-error")) { CUfileError_t r = {5011, 999}; return r; }
	return answer(0);
}
CUfileError_t cuFileDriverClose_v2(void) { return answer(0); }
CUfileError_t cuFileDriverGetProperties(unsigned char *p) {
	memset(p, 0, 56);
	if (!is("posix")) { uint32_t v[2] = {2, 28}; memcpy(p, v, 8); }
	return answer(0);
}
CUfileError_t cuFileHandleRegister(void **fh, CUfileDescr_t *d) {
	if (d->type != 1) return answer(5018);
	if (is("no-udev")) return answer(5027);
	if (fcntl(d->h.fd, F_GETFL) & (O_NOFOLLOW | O_APPEND)) return answer(5019); // measured with 1.15.1
	if (strict() && is("silent-compat")) return answer(5008);
	*fh = (void *)(intptr_t)(d->h.fd + 1000);
	return answer(0);
}
void cuFileHandleDeregister(void *fh) {}
CUfileError_t cuFileBufRegister(const void *p, size_t n, int flags) { return answer(is("no-pin") ? 5036 : 0); }
CUfileError_t cuFileBufDeregister(const void *p) { return answer(0); }

static ssize_t move(int w, void *fh, void *base, size_t size, off_t at, off_t buf) {
	int fd = (int)(intptr_t)fh - 1000;
	char *p = (char *)base + buf;
	int posix = is("posix") || is("silent-compat") || is("half") && at / (1 << 20) % 2 || is("writes-posix") && w;
	if (is("hang")) for (;;) pause();
	if (is("crash-io")) *(volatile int *)8 = 1;
	pthread_mutex_lock(&lock);
	if (!is("lost-stats") || at % (4 << 20) == 0) {
		count[w].total++;
		if (is("p2p")) count[w].p2p++;
		else if (posix) count[w].posix++;
		else count[w].nvfs++;
	}
	pthread_mutex_unlock(&lock);
	if (is("errno-5027")) { errno = 5027; return -1; }
	if (is("errno-eio")) { errno = EIO; return -1; }
	if (is("negative")) return -5010;
	if (is("positive")) return 1ull << 33;
	if (is("short")) size /= 2;
	if (is("nothing") && !w) return (ssize_t)size;
	ssize_t n = w ? pwrite(fd, p, size, at) : pread(fd, p, size, at);
	if (is("corrupt") && !w && at == 3 << 20) p[4096] ^= 1;
	if (is("stale") && !w) memset(p, 0, size);
	return n;
}
ssize_t cuFileRead(void *fh, void *base, size_t size, off_t at, off_t buf) { return move(0, fh, base, size, at, buf); }
ssize_t cuFileWrite(void *fh, const void *base, size_t size, off_t at, off_t buf) { return move(1, fh, (void *)base, size, at, buf); }

#ifndef OLD
CUfileError_t cuFileGetVersion(int *v) { *v = is("old-version") ? 1140 : 1150; return answer(0); }
CUfileError_t cuFileGetParameterBool(int n, _Bool *v) {
	*v = n == 1 && !strict();
	return answer(0);
}
CUfileError_t cuFileSetStatsLevel(int l) { level = l; return answer(0); }
CUfileError_t cuFileStatsStart(void) { return answer(level == 3 ? 0 : 5022); }
CUfileError_t cuFileGetStatsL3(uint64_t *s) {
	if (level != 3) return answer(5022);
	memset(s, 0, 5000);
	s[0] = count[0].total;
	s[2] = count[1].total;
	*(uint32_t *)&s[128] = is("odd-stats") ? 77 : 1;
	for (int w = 0; w < 2; w++) {
		uint64_t *g = s + (w ? 148 : 135);
		g[0] = count[w].total; g[1] = count[w].p2p; g[2] = count[w].nvfs; g[3] = count[w].posix;
	}
	if (is("moved-stats")) memmove(s + 136, s + 135, 8 * 40);
	return answer(0);
}
#endif
