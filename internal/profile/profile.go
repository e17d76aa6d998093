// Package profile is what a node is measured by: minimum and known-bad versions, instance types, counts. It is
// data with a source and a date for each row, built in and replaced row by row by the user's file.
package profile

type Profile struct{}
