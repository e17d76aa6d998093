//go:build !race

package checks_test

const underRace = false
