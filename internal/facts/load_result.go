package facts

import (
	"encoding/json"
	"fmt"

	"gdsproof/internal/evidence"
)

// LoadSource is one run of an engine of our own.
const LoadSource = "gdsproof load"

// LoadJob is what an engine is asked to do. It travels to the engine's process and back with its result.
type LoadJob struct {
	Engine   string  `json:"engine"` // cufile, posix; gdsio where it printed nothing that can be read
	Phase    string  `json:"phase"`
	Op       string  `json:"op"` // read, write
	Dir      string  `json:"dir"`
	Name     string  `json:"name"`
	GPU      LoadGPU `json:"gpu"`
	CPU      bool    `json:"cpu,omitempty"` // through the CPU: the control
	Strict   bool    `json:"strict,omitempty"`
	Verify   bool    `json:"verify,omitempty"`
	Threads  int     `json:"threads"`
	Size     uint64  `json:"size_bytes"`
	IOSize   uint64  `json:"io_size_bytes"`
	Seed     uint64  `json:"seed"`
	Library  string  `json:"library,omitempty"` // path of libcufile
	Wait     bool    `json:"wait,omitempty"`    // open the library, and wait for a word before the first file is touched
	Deadline float64 `json:"deadline_seconds"`
}

// Ends of a run.
const (
	EndDone    = "done"
	EndError   = "error"
	EndCrashed = "crashed"
	EndKilled  = "killed"
	EndStuck   = "stuck"
)

// LoadStats are libcufile's own counts for the GPU of a run, from its opening to its end.
type LoadStats struct {
	Total uint64 `json:"total"`
	NVFS  uint64 `json:"nvfs"`
	P2P   uint64 `json:"p2p"`
	POSIX uint64 `json:"posix"`
}

// LoadVerified is how the data compared with what was written.
type LoadVerified struct {
	Bytes uint64  `json:"bytes"`
	Wrong uint64  `json:"wrong_bytes"`
	First *uint64 `json:"first_wrong_offset,omitempty"`
	How   string  `json:"how"` // on the GPU, through the CPU
}

// LoadLatency are times of single I/Os.
type LoadLatency struct {
	P50 float64 `json:"p50_usec"`
	P99 float64 `json:"p99_usec"`
	Max float64 `json:"max_usec"`
}

// LoadResult is what became of a job.
type LoadResult struct {
	Job        LoadJob           `json:"job"`
	End        string            `json:"end"`
	Bytes      uint64            `json:"bytes"`
	Ops        uint64            `json:"ops"`
	Seconds    float64           `json:"seconds"`
	CPUSeconds *float64          `json:"cpu_seconds,omitempty"`
	Latency    *LoadLatency      `json:"latency,omitempty"`
	Error      string            `json:"error,omitempty"`
	Code       *int64            `json:"code,omitempty"`      // of libcufile or errno, where there is one
	Stats      *LoadStats        `json:"stats,omitempty"`     // absent: the library could not tell
	Effective  map[string]string `json:"effective,omitempty"` // read back from the library
	Verified   *LoadVerified     `json:"verified,omitempty"`
	Versions   map[string]string `json:"versions,omitempty"` // of the library and what it loaded
	Notes      []string          `json:"notes,omitempty"`
}

// GDS tells that the run asked cuFile.
func (r LoadResult) GDS() bool { return !r.Job.CPU }

// Item makes a result an item of the set.
func (r LoadResult) Item(step int) evidence.Item {
	b, _ := json.Marshal(r)
	return evidence.Item{Source: LoadSource, Form: evidence.Whole, Place: evidence.Host, State: evidence.Present, Out: b, Step: step}
}

// ParseLoadResult reads a result as an engine's process sent it.
func ParseLoadResult(b []byte) (LoadResult, error) {
	var r LoadResult
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("result of an engine: %w", err)
	}
	return r, nil
}

// LoadResults are the results of our own engines.
var LoadResults = Define("load-results", nil, func(in *In) Known[[]LoadItem] {
	var out []LoadItem
	for _, i := range in.looks(LoadSource) {
		if r, err := ParseLoadResult(in.item(i).Out); err == nil {
			out = append(out, LoadItem{r, i})
		}
	}
	if len(out) == 0 {
		return Because[[]LoadItem]("no engine of gdsproof ran", "gdsproof prove --fs DIR")
	}
	return Have(out)
})

// LoadItem is a result with the item that holds it.
type LoadItem struct {
	LoadResult
	Item int
}

// run is a result as the windows see it.
func (r LoadItem) run() Run {
	out := Run{Engine: r.Job.Engine, Op: r.Job.Op, GDS: r.GDS(), CPU: !r.GDS(), Strict: r.Job.Strict, Phase: r.Job.Phase, GPU: fmt.Sprint(r.Job.GPU.Index),
		Bytes: Some(r.Bytes), Asked: Some(r.Job.Size), Ops: Some(r.Ops), IOSize: Some(r.Job.IOSize), Threads: Some(uint64(r.Job.Threads)), Item: r.Item}
	out.Line = fmt.Sprintf("%s %s of GPU %d: %d of %d bytes, %s", r.Job.Engine, r.Job.Op, r.Job.GPU.Index, r.Bytes, r.Job.Size, r.End)
	if r.Seconds > 0 && r.Bytes > 0 {
		out.GiBs = Some(float64(r.Bytes) / (1 << 30) / r.Seconds)
	}
	if r.CPUSeconds != nil {
		out.CPUSeconds = Some(*r.CPUSeconds)
	}
	if r.End != EndDone {
		out.Failed = r.Error
		if out.Failed == "" {
			out.Failed = "the engine's process " + map[string]string{EndCrashed: "crashed", EndKilled: "was killed", EndStuck: "hangs"}[r.End]
		}
		if r.Code != nil {
			out.Code = Some(*r.Code)
		}
	}
	if r.GDS() && len(r.Effective) > 0 {
		out.CompatOff = Some(r.Effective["allow_compat_mode"] == "false" && r.Effective["force_compat_mode"] != "true")
	}
	return out
}
