// A stand-in for libcuda.so.1: a GPU whose memory is the host's. It has the driver API's real names and types, as far
// as an I/O engine calls them.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;

static const char *mode(void) {
	const char *m = getenv("CUFILE_STANDIN_GPU");
	return m ? m : "";
}

CUresult cuInit(unsigned flags) { return strcmp(mode(), "none") == 0 ? 100 : 0; }
CUresult cuDeviceGetCount(int *n) { *n = 2; return 0; }
CUresult cuDeviceGet(int *dev, int ordinal) { *dev = ordinal; return ordinal < 2 ? 0 : 101; }
CUresult cuDeviceGetUuid_v2(unsigned char *uuid, int dev) {
	for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(0x10 * dev + i);
	return 0;
}
CUresult cuDeviceGetByPCIBusId(int *dev, const char *id) {
	if (strcmp(id, "0000:3b:00.0") != 0) return 101;
	*dev = 1;
	return 0;
}
CUresult cuDeviceGetName(char *name, int len, int dev) { snprintf(name, (size_t)len, "Stand-in %d", dev); return 0; }
CUresult cuDeviceGetAttribute(int *v, int attr, int dev) {
	*v = 0;
	if (attr == 20 && strcmp(mode(), "prohibited") == 0) *v = 2;
	if (attr == 20 && strcmp(mode(), "exclusive") == 0) *v = 3;
	return 0;
}
CUresult cuDevicePrimaryCtxRetain(void **ctx, int dev) { *ctx = (void *)0x10; return strcmp(mode(), "exclusive") == 0 ? 46 : 0; }
CUresult cuCtxSetCurrent(void *ctx) { return ctx == (void *)0x10 ? 0 : 201; }
CUresult cuMemGetInfo_v2(size_t *avail, size_t *all) {
	*all = 16ul << 30;
	*avail = strcmp(mode(), "busy") == 0 ? 1ul << 30 : 15ul << 30;
	return 0;
}
CUresult cuMemAlloc_v2(uintptr_t *p, size_t n) {
	if (strcmp(mode(), "full") == 0) return 2;
	*p = (uintptr_t)aligned_alloc(4096, (n + 4095) / 4096 * 4096);
	return 0;
}
CUresult cuStreamCreate(void **s, unsigned flags) { *s = (void *)0x20; return 0; }
CUresult cuEventCreate(void **e, unsigned flags) { *e = (void *)0x40; return 0; }
CUresult cuEventRecord(void *e, void *s) { return 0; }
CUresult cuEventSynchronize(void *e) { return 0; }
CUresult cuStreamSynchronize(void *s) { return 0; }
CUresult cuMemsetD8Async(uintptr_t p, unsigned char v, size_t n, void *s) { memset((void *)p, v, n); return 0; }
CUresult cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t n) { memcpy((void *)to, from, n); return 0; }
CUresult cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t n) { memcpy(to, (void *)from, n); return 0; }
CUresult cuModuleLoadData(void **m, const void *image) {
	*m = (void *)0x30;
	return strcmp(mode(), "nojit") == 0 ? 218 : strncmp(image, ".version", 8) == 0 ? 0 : 200;
}
CUresult cuModuleGetFunction(void **f, void *m, const char *name) {
	*f = strcmp(name, "fill") == 0 ? (void *)1 : strcmp(name, "check") == 0 ? (void *)2 : 0;
	return *f ? 0 : 500;
}
CUresult cuGetErrorName(CUresult e, const char **name) { *name = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : e == 218 ? "CUDA_ERROR_INVALID_PTX" : "CUDA_ERROR_OTHER"; return 0; }

static uint64_t word(uint64_t i, uint64_t seed) {
	uint64_t z = i + 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31 ^ seed;
}

CUresult cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **args, void **extra) {
	uint64_t *p = *(uint64_t **)args[0], n = *(uint64_t *)args[1], base = *(uint64_t *)args[2], seed = *(uint64_t *)args[3];
	if (gx == 0 || bx != 256 || gy != 1 || by != 1) return 1;
	if (f == (void *)1) {
		for (uint64_t i = 0; i < n; i++) p[i] = word(base + i, seed);
		return 0;
	}
	uint64_t *out = *(uint64_t **)args[4];
	for (uint64_t i = 0; i < n; i++)
		if (p[i] != word(base + i, seed)) {
			out[0] += 8;
			if ((base + i) * 8 < out[1]) out[1] = (base + i) * 8;
		}
	return 0;
}
