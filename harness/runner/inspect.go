package runner

// betweenSteps is what the world does between two steps, nil when nobody inspects the run.
func (r *run) betweenSteps() func() {
	if r.options.Inspect == nil {
		return nil
	}
	return r.inspect
}

func (r *run) inspect() {
	if r.options.Inspect != nil {
		r.options.Inspect(Moment{Step: r.world.Steps(), Now: r.world.Now(), Cluster: r.cluster})
	}
}
