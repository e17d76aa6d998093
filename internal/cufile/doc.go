// Package cufile calls NVIDIA's libcufile without cgo. Only a child process of ours does: the library starts
// threads, prints on stdout, and may end the process that it lives in.
package cufile

// ReportVerb is the hidden first argument that makes this binary open and close libcufile's driver once, with the
// log level at which the library writes the whole platform report (what gdscheck -p prints) into its log.
const ReportVerb = "__cufile-report"

// Report is what the child says, as one JSON document on stdout.
type Report struct {
	Library string `json:"library"`           // as it was asked for
	Loaded  bool   `json:"loaded"`            // dlopen succeeded
	Error   string `json:"error,omitempty"`   // of dlopen, or of a missing symbol
	Open    *int32 `json:"open,omitempty"`    // CUfileOpError of cuFileDriverOpen, 0 is success
	CUDA    int32  `json:"cuda,omitempty"`    // CUresult beside it
	Version *int32 `json:"version,omitempty"` // cuFileGetVersion: 1000·major + 10·minor; from 1.7 or 1.8 on
	Trouble string `json:"trouble,omitempty"` // of the child itself, before it touched the library
	Log     string `json:"log"`               // cufile.log
	Noise   string `json:"noise,omitempty"`   // what the library printed on stdout and stderr
}
