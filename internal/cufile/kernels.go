//go:build !nocufile

package cufile

import "unsafe"

// ptx has the pattern's two kernels. word(i) is splitmix64 of i, and the seed over it: the CPU's arithmetic is in
// package load. It is text for the driver's compiler, for GPUs of Pascal and later, as GDS itself needs.
const ptx = `.version 6.0
.target sm_60
.address_size 64

.visible .entry fill(.param .u64 p, .param .u64 n, .param .u64 base, .param .u64 seed)
{
	.reg .pred %q;
	.reg .b32 %r<6>;
	.reg .b64 %a<12>;
	ld.param.u64 %a0, [p];
	ld.param.u64 %a1, [n];
	ld.param.u64 %a2, [base];
	ld.param.u64 %a3, [seed];
` + grid + `FILL_LOOP:
	setp.ge.u64 %q, %a4, %a1;
	@%q bra FILL_DONE;
	add.u64 %a6, %a4, %a2;
	add.u64 %a6, %a6, 0x9e3779b97f4a7c15;
` + word + `	st.global.u64 [%a8], %a6;
	add.u64 %a4, %a4, %a5;
	bra FILL_LOOP;
FILL_DONE:
	ret;
}

.visible .entry check(.param .u64 p, .param .u64 n, .param .u64 base, .param .u64 seed, .param .u64 out)
{
	.reg .pred %q;
	.reg .b32 %r<6>;
	.reg .b64 %a<14>;
	ld.param.u64 %a0, [p];
	ld.param.u64 %a1, [n];
	ld.param.u64 %a2, [base];
	ld.param.u64 %a3, [seed];
	ld.param.u64 %a11, [out];
` + grid + `CHECK_LOOP:
	setp.ge.u64 %q, %a4, %a1;
	@%q bra CHECK_DONE;
	add.u64 %a10, %a4, %a2;
	add.u64 %a6, %a10, 0x9e3779b97f4a7c15;
` + word + `	ld.global.u64 %a9, [%a8];
	setp.eq.u64 %q, %a9, %a6;
	@%q bra CHECK_NEXT;
	red.global.add.u64 [%a11], 8;
	shl.b64 %a12, %a10, 3;
	red.global.min.u64 [%a11+8], %a12;
CHECK_NEXT:
	add.u64 %a4, %a4, %a5;
	bra CHECK_LOOP;
CHECK_DONE:
	ret;
}
`

// grid puts the thread's number into %a4 and the number of all into %a5.
const grid = `	mov.u32 %r0, %ctaid.x;
	mov.u32 %r1, %ntid.x;
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %nctaid.x;
	mad.lo.u32 %r4, %r0, %r1, %r2;
	mul.lo.u32 %r5, %r3, %r1;
	cvt.u64.u32 %a4, %r4;
	cvt.u64.u32 %a5, %r5;
`

// word finishes the pattern's word in %a6, which holds the index and the first constant, with the seed in %a3; %a8 becomes
// the address of the word %a4 behind %a0.
const word = `	shr.u64 %a7, %a6, 30;
	xor.b64 %a6, %a6, %a7;
	mul.lo.u64 %a6, %a6, 0xbf58476d1ce4e5b9;
	shr.u64 %a7, %a6, 27;
	xor.b64 %a6, %a6, %a7;
	mul.lo.u64 %a6, %a6, 0x94d049bb133111eb;
	shr.u64 %a7, %a6, 31;
	xor.b64 %a6, %a6, %a7;
	xor.b64 %a6, %a6, %a3;
	shl.b64 %a8, %a4, 3;
	add.u64 %a8, %a0, %a8;
`

// Kernels are the pattern's, on one GPU.
type Kernels struct {
	d           *Device
	fill, check uintptr
}

// Kernels compiles them; the driver keeps the result where CUDA_CACHE_PATH says.
func (d *Device) Kernels() (*Kernels, error) {
	p, err := newPage(len(ptx) + 4096)
	if err != nil {
		return nil, err
	}
	defer p.free()
	p.putString(1024, ptx)
	if err := d.c.call("cuModuleLoadData", p.at(0), p.at(1024)); err != nil {
		return nil, err
	}
	k := &Kernels{d: d}
	module := uintptr(p.u64(0))
	for name, to := range map[string]*uintptr{"fill": &k.fill, "check": &k.check} {
		p.putString(64, name)
		if err := d.c.call("cuModuleGetFunction", p.at(0), module, p.at(64)); err != nil {
			return nil, err
		}
		*to = uintptr(p.u64(0))
	}
	return k, nil
}

func stringAt(p uintptr) string {
	at := *(*unsafe.Pointer)(unsafe.Pointer(&p))
	for n := 0; n < 256; n++ {
		if *(*byte)(unsafe.Add(at, n)) == 0 {
			return string(unsafe.Slice((*byte)(at), n))
		}
	}
	return ""
}
