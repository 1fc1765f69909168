package explore

// ByPasses makes a run decide Possible claims by passes over the whole reached set.
func ByPasses(opt *Options) {
	t := opt.Tune.Complete()
	t.Passes = true
	opt.Tune = &t
}

// Outcomes is all of a result that does not depend on time and memory.
func Outcomes(r *Result) string { return outcomes(r) }
