//go:build !nocufile

#include "textflag.h"

// The fields of a batch, as in batch.go.
#define FN      0
#define HANDLE  8
#define BUF     16
#define SIZE    24
#define FILEAT  32
#define BUFAT   40
#define BUFSTEP 48
#define LEFT    56
#define RESULT  64
#define CLOCK   72
#define STAMP   80
#define ERRNO   88
#define CODE    96

GLOBL ·ioBatchAddress(SB), NOPTR|RODATA, $8
DATA ·ioBatchAddress(SB)/8, $ioBatch(SB)

// void ioBatch(batch *): see batch_amd64.s. There is no frame of Go's, whose slot below the stack pointer C would
// overwrite.
TEXT ioBatch(SB), NOSPLIT|NOFRAME, $0
	SUB $32, RSP
	STP (R29, R30), (RSP)
	MOVD R0, 16(RSP)

next:
	MOVD 16(RSP), R9
	MOVD $1, R0 // CLOCK_MONOTONIC
	MOVD STAMP(R9), R1
	MOVD CLOCK(R9), R10
	CALL (R10)
	MOVD 16(RSP), R9
	MOVD STAMP(R9), R1
	ADD  $16, R1
	MOVD R1, STAMP(R9)
	MOVD LEFT(R9), R1
	CBZ  R1, done

	MOVD HANDLE(R9), R0
	MOVD BUF(R9), R1
	MOVD SIZE(R9), R2
	MOVD FILEAT(R9), R3
	MOVD BUFAT(R9), R4
	MOVD FN(R9), R10
	CALL (R10)
	MOVD 16(RSP), R9
	MOVD R0, RESULT(R9)
	MOVD SIZE(R9), R2
	CMP  R2, R0
	BNE  failed
	MOVD FILEAT(R9), R3
	ADD  R2, R3
	MOVD R3, FILEAT(R9)
	MOVD BUFSTEP(R9), R2
	MOVD BUFAT(R9), R3
	ADD  R2, R3
	MOVD R3, BUFAT(R9)
	MOVD LEFT(R9), R2
	SUB  $1, R2
	MOVD R2, LEFT(R9)
	JMP  next

failed:
	// errno is this thread's, and nothing has been called since.
	MOVD ERRNO(R9), R10
	CBZ  R10, done
	CALL (R10)
	MOVW (R0), R0
	MOVD 16(RSP), R9
	MOVD R0, CODE(R9)

done:
	LDP (RSP), (R29, R30)
	ADD $32, RSP
	RET
