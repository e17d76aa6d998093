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

// void ioBatch(batch *), called as C on C's stack: nothing but registers that a caller saves is used, and what has to
// outlive a call is on the stack, which is 16-aligned at each call.
TEXT ioBatch(SB), NOSPLIT|NOFRAME, $0
	SUBQ $24, SP
	MOVQ DI, 8(SP)

next:
	MOVQ 8(SP), R11
	MOVQ $1, DI // CLOCK_MONOTONIC
	MOVQ STAMP(R11), SI
	MOVQ CLOCK(R11), AX
	CALL AX
	MOVQ 8(SP), R11
	ADDQ $16, STAMP(R11)
	CMPQ LEFT(R11), $0
	JEQ  done

	MOVQ HANDLE(R11), DI
	MOVQ BUF(R11), SI
	MOVQ SIZE(R11), DX
	MOVQ FILEAT(R11), CX
	MOVQ BUFAT(R11), R8
	MOVQ FN(R11), AX
	CALL AX
	MOVQ 8(SP), R11
	MOVQ AX, RESULT(R11)
	MOVQ SIZE(R11), DX
	CMPQ AX, DX
	JNE  failed
	ADDQ DX, FILEAT(R11)
	MOVQ BUFSTEP(R11), DX
	ADDQ DX, BUFAT(R11)
	DECQ LEFT(R11)
	JMP  next

failed:
	// errno is this thread's, and nothing has been called since.
	MOVQ ERRNO(R11), AX
	TESTQ AX, AX
	JEQ  done
	CALL AX
	MOVLQSX (AX), AX
	MOVQ 8(SP), R11
	MOVQ AX, CODE(R11)

done:
	ADDQ $24, SP
	RET
