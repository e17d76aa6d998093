// The peer to measure beside: the plainest C loop over cuFileRead and cuFileWrite, and over pread and pwrite with
// cuMemcpy, with threads that have a piece of the file each. Nothing is compared, nothing is counted but time.
// "counted" is cufile with the library's own statistics at level 3, as gdsproof needs them.
//   loop cufile|counted|posix read|write FILE THREADS SIZE_MIB IO_KIB LIBCUFILE
// prints: GiB/s, CPU seconds per GiB
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct { int err, cu_err; } status;
typedef struct { int type; union { int fd; void *handle; } h; const void *ops; } descr;

static int (*cuInit)(unsigned), (*cuDeviceGet)(int *, int), (*cuRetain)(void **, int), (*cuSet)(void *), (*cuAlloc)(uintptr_t *, size_t), (*cuToHost)(void *, uintptr_t, size_t), (*cuToGPU)(uintptr_t, const void *, size_t);
static status (*drvOpen)(void), (*hReg)(void **, descr *), (*bReg)(const void *, size_t, int);
static ssize_t (*cfRead)(void *, void *, size_t, off_t, off_t), (*cfWrite)(void *, const void *, size_t, off_t, off_t);

static int direct, counted, writing, fd;
static size_t size, io;
static int threads;
static void *ctx, *handle;
static pthread_barrier_t ready;

static void die(const char *what) { fprintf(stderr, "loop: %s: %s\n", what, strerror(errno)); exit(1); }

static void *run(void *arg) {
	long i = (long)arg;
	size_t blocks = size / io, from = blocks * i / threads * io, to = blocks * (i + 1) / threads * io;
	uintptr_t gpu;
	if (cuSet(ctx) || cuAlloc(&gpu, io)) die("get memory on the GPU");
	void *host = mmap(0, io, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (direct) bReg((void *)gpu, io, 0);
	pthread_barrier_wait(&ready);
	for (size_t at = from; at < to; at += io) {
		ssize_t n;
		if (direct) {
			n = writing ? cfWrite(handle, (void *)gpu, io, at, 0) : cfRead(handle, (void *)gpu, io, at, 0);
		} else if (writing) {
			if (cuToHost(host, gpu, io)) die("copy");
			n = pwrite(fd, host, io, at);
		} else {
			n = pread(fd, host, io, at);
			if (cuToGPU(gpu, host, io)) die("copy");
		}
		if (n != (ssize_t)io) die("I/O");
	}
	return 0;
}

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static double cpu(void) { struct rusage u; getrusage(RUSAGE_SELF, &u); return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6; }

int main(int argc, char **argv) {
	if (argc != 8) return 2;
	counted = !strcmp(argv[1], "counted"), direct = counted || !strcmp(argv[1], "cufile"), writing = !strcmp(argv[2], "write"), threads = atoi(argv[4]);
	size = (size_t)atol(argv[5]) << 20, io = (size_t)atol(argv[6]) << 10;
	void *cu = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *cf = dlopen(argv[7], RTLD_NOW | RTLD_GLOBAL);
	if (!cu || !cf) { fprintf(stderr, "loop: %s\n", dlerror()); return 1; }
	cuInit = dlsym(cu, "cuInit"), cuDeviceGet = dlsym(cu, "cuDeviceGet"), cuRetain = dlsym(cu, "cuDevicePrimaryCtxRetain"), cuSet = dlsym(cu, "cuCtxSetCurrent");
	cuAlloc = dlsym(cu, "cuMemAlloc_v2"), cuToHost = dlsym(cu, "cuMemcpyDtoH_v2"), cuToGPU = dlsym(cu, "cuMemcpyHtoD_v2");
	drvOpen = dlsym(cf, "cuFileDriverOpen"), hReg = dlsym(cf, "cuFileHandleRegister"), bReg = dlsym(cf, "cuFileBufRegister"), cfRead = dlsym(cf, "cuFileRead"), cfWrite = dlsym(cf, "cuFileWrite");
	int dev;
	if (cuInit(0) || cuDeviceGet(&dev, 0) || cuRetain(&ctx, dev) || cuSet(ctx)) die("open the GPU");
	fd = open(argv[3], O_RDWR | O_DIRECT);
	if (fd < 0) die("open the file");
	status (*level)(int) = dlsym(cf, "cuFileSetStatsLevel"), (*start)(void) = dlsym(cf, "cuFileStatsStart");
	if (direct) {
		if (counted && level) level(3);
		descr d = {.type = 1, .h.fd = fd};
		if (drvOpen().err || hReg(&handle, &d).err) die("open libcufile");
		if (counted && (!level || !start || start().err)) die("count");
	}
	pthread_barrier_init(&ready, 0, threads + 1);
	pthread_t t[256];
	for (long i = 0; i < threads; i++) pthread_create(&t[i], 0, run, (void *)i);
	pthread_barrier_wait(&ready);
	double began = now(), spent = cpu();
	for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
	if (writing) fsync(fd);
	double s = now() - began, gib = size / (double)(1 << 30);
	printf("%.4f %.4f\n", gib / s, (cpu() - spent) / gib);
	fflush(stdout);
	_exit(0); // the library's own end, with statistics begun, has been seen to crash
}
