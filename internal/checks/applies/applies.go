// Package applies answers where a check has something to judge: on a GPU node, on one that uses Lustre, on one
// whose Lustre client is to use EFA. The facts that the answers need are given beside them.
package applies

import (
	"gdsproof/internal/check"
	"gdsproof/internal/facts"
)

func answer(v check.View, k facts.Key[facts.Scope]) (check.Answer, string) {
	s := check.Maybe(v, k)
	return s.V.Is, s.V.Why
}

// both is the answer where two things must be so: a sure no of either is one.
func both(v check.View, keys ...facts.Key[facts.Scope]) (check.Answer, string) {
	is, why := check.Yes, ""
	for _, k := range keys {
		switch a, w := answer(v, k); {
		case a == check.No:
			return a, w
		case a == check.CannotTell && is == check.Yes:
			is, why = a, w
		}
	}
	return is, why
}

// OnGPUNode: GDS is asked for where an NVIDIA GPU is.
func OnGPUNode(v check.View) (check.Answer, string) { return answer(v, facts.GPUNode) }

// GPUNeeds are the facts that OnGPUNode needs, and more.
func GPUNeeds(more ...facts.Need) []facts.Need {
	return append([]facts.Need{facts.GPUNode.Want()}, more...)
}

// WithLustre: Lustre is the file system in question, on a GPU node.
func WithLustre(v check.View) (check.Answer, string) {
	return both(v, facts.GPUNode, facts.Question)
}

// LustreNeeds are the facts that WithLustre needs, and more.
func LustreNeeds(more ...facts.Need) []facts.Need {
	return append([]facts.Need{facts.GPUNode.Want(), facts.Question.Want()}, more...)
}

// OverEFA: the Lustre client is to use EFA, on a GPU node.
func OverEFA(v check.View) (check.Answer, string) {
	return both(v, facts.GPUNode, facts.Question, facts.EFAQuestion)
}

// EFANeeds are the facts that OverEFA needs, and more.
func EFANeeds(more ...facts.Need) []facts.Need {
	return append([]facts.Need{facts.GPUNode.Want(), facts.Question.Want(), facts.EFAQuestion.Want()}, more...)
}

// NVFS: nvidia-fs is asked for: on a GPU node whose storage is not reached without it.
func NVFS(v check.View) (check.Answer, string) { return answer(v, facts.NVFSQuestion) }

// NVFSNeeds are the facts that NVFS needs, and more.
func NVFSNeeds(more ...facts.Need) []facts.Need {
	return append([]facts.Need{facts.NVFSQuestion.Want()}, more...)
}

// LustreOverEFA tells whether FSx for Lustre over EFA is what the node is for. A check that asks declares Question
// and EFAQuestion.
func LustreOverEFA(v check.View) (check.Answer, string) {
	return both(v, facts.Question, facts.EFAQuestion)
}
