package facts

// Sources of what was done, and of counters that only texts hold.
const (
	GdsioSource       = "gdsio"     // its lines, with "$ command" above them where that is known
	DDSource          = "dd"        // likewise
	GDSStatsSource    = "gds_stats" // of a process that did I/O
	PastedCufileLog   = "cufile.log"
	EFACountersSource = "EFA hw_counters"
	LNetCountsSource  = "lnetctl net show -v, counters alone"
	LNetCountSource   = "lnetctl net show, number of @efa lines"
)
