//go:build race

package checks_test

// underRace: judgements are pure and run in one goroutine, so the race detector learns nothing from thousands of
// nodes; under it the large tables are run in part. The whole of them runs without it.
const underRace = true
