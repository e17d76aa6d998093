//go:build nocufile

package load

import "gdsproof/internal/facts"

// HasCufile tells whether this program can call libcufile itself.
const HasCufile = false

func cufileEngine(_ facts.LoadJob, _ *reporter, res *facts.LoadResult) {
	res.Error = "this gdsproof was built without libcufile (-tags nocufile)"
}
