package migration

import (
	"time"

	"github.com/shardproof/shardproof/histories/trace"
	"github.com/shardproof/shardproof/system/catalog"
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/failpoint"
	"github.com/shardproof/shardproof/system/hlc"
	"github.com/shardproof/shardproof/system/key"
	"github.com/shardproof/shardproof/system/shard"
)

// donorState is how far a donor has come (protocol 5.1). Before donorCommittingOnConfig giving up
// means aborted; from then on only the config server knows.
type donorState = trace.DonorState

const (
	donorCreated            = trace.DonorCreated
	donorCloning            = trace.DonorCloning
	donorCloneCaughtUp      = trace.DonorCloneCaughtUp
	donorCriticalSection    = trace.DonorCriticalSection
	donorCloneCompleted     = trace.DonorCloneCompleted
	donorCommittingOnConfig = trace.DonorCommittingOnConfig
	donorDone               = trace.DonorDone
)

// donorMigration is the donor's side of one migration, from the request to its end.
type donorMigration struct {
	s          *Service
	req        *command.ShardsvrMoveRange
	record     Coordinator
	epoch      string
	collection *shard.Collection
	state      donorState
	written    bool // the record may be durable
	began      env.Time

	capture  *changeCapture
	clone    *cloneList
	sessions *sessionSource
	mods     sequencedPulls[command.Mods]
	release  *sectionRelease
	// Of 4.2: whether minOpTimeRecovery counts the donor migration, and from when on the new
	// placement is to count.
	counted    bool
	validAfter hlc.Timestamp

	timing  stepTiming
	locking env.Time // since when the donor waits for the lock
	// blocked and committing are when writes were blocked and when the commit began; zero: not, or
	// ended.
	blocked, committing env.Time
	over                bool
	err                 error
	ended               env.Cond
}

// run takes the steps and reports them, with any outcome.
func (d *donorMigration) run(t env.Task) {
	steps := d.steps()
	d.timing = newTiming(len(steps), d.began)
	err := d.take(t, steps)
	reached := d.state
	if err != nil {
		d.giveUp()
	}
	d.account(reached, err)
	if d.s.donor == d {
		d.s.donor = nil
	}
	d.over, d.err = true, err
	d.ended.Broadcast()
}

// steps are the timed steps of the protocol's version: S1 to S6 of protocol 5.1.
func (d *donorMigration) steps() []func(env.Task) error {
	if !d.s.profile.CoordinatesMigrations() {
		return d.steps42()
	}
	return []func(env.Task) error{
		d.construct, d.checkPreconditions, d.startClone, d.awaitCatchUp, d.handOver, d.commit,
	}
}

// take takes the timed steps.
func (d *donorMigration) take(t env.Task, steps []func(env.Task) error) error {
	for _, do := range steps {
		err := do(t)
		d.timing.lap(d.s.node.Mono())
		if err != nil {
			return err
		}
	}
	return nil
}

// construct is S1: no earlier migration of this shard is undecided, and the metadata is fresh.
func (d *donorMigration) construct(t env.Task) error {
	d.become(donorCreated)
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorDrainRecovery, d.s.awaitRecovered},
		step{failpoint.DonorPreRefresh, d.identify},
		step{failpoint.DonorComputeBound, d.computeBound})
}

// identify reads what the catalog has, and remembers the collection: another one may have its name
// later.
func (d *donorMigration) identify(t env.Task) error {
	if err := d.collection.Refresh(t); err != nil {
		return err
	}
	md, err := d.placement()
	if err != nil {
		return err
	}
	coll := md.Table.Collection()
	d.record.UUID, d.epoch = coll.UUID, coll.Epoch
	return nil
}

// checkPreconditions is S2: the range is inside one chunk of this shard, and no earlier copy of it
// is being deleted.
func (d *donorMigration) checkPreconditions(t env.Task) error {
	return inOrder(t, d.record.Migration,
		step{failpoint.DonorWaitOverlap, func(t env.Task) error {
			md, err := d.placement()
			if err != nil {
				return err
			}
			return d.s.ranges.AwaitNoOverlap(t, md.Table.Collection().UUID, d.record.Range(),
				d.s.settings.DrainWait)
		}},
		step{failpoint.DonorPreconditions, d.takePlacement})
}

// placement is what the donor knows now.
func (d *donorMigration) placement() (*shard.Metadata, error) {
	if md := d.collection.Metadata(); md != nil {
		return md, nil
	}
	return nil, errcode.New(errcode.ConflictingOperationInProgress,
		"the placement of %s became unknown", d.record.NS)
}

// takePlacement checks the range against the metadata and remembers the chunk's version, which
// fences the commit.
func (d *donorMigration) takePlacement(env.Task) error {
	md, err := d.placement()
	if err != nil {
		return err
	}
	coll, chunk := md.Table.Collection(), md.Table.Owner(key.Key(d.record.Min))
	switch {
	case coll.UUID != d.record.UUID || coll.Epoch != d.epoch:
		return errcode.New(errcode.ConflictingOperationInProgress,
			"collection %s is another one since migration %s began", d.req.NS, d.record.Migration)
	case !coll.AllowMigrations:
		return errcode.New(errcode.ConflictingOperationInProgress,
			"migrations of %s are not allowed", d.req.NS)
	case d.record.Range().Empty():
		return errcode.New(errcode.BadValue, "range %v of %s is empty", d.record.Range(), d.req.NS)
	case !d.s.profile.MovesPartOfChunk() && chunk.Range != d.record.Range():
		return errcode.New(errcode.IncompatibleShardingMetadata,
			"range %v of %s is not a chunk, but begins in %v", d.record.Range(), d.req.NS, chunk)
	case chunk.Shard != d.s.shard.Name() || !chunk.ContainsRange(d.record.Range()):
		return errcode.New(errcode.IncompatibleShardingMetadata,
			"range %v of %s is not inside one chunk of %s, but begins in %v",
			d.record.Range(), d.req.NS, d.s.shard.Name(), chunk)
	}
	d.plan(coll, chunk)
	return nil
}

func (d *donorMigration) plan(coll catalog.Collection, chunk catalog.Chunk) {
	d.record.ChunkMin, d.record.ChunkMax = []byte(chunk.Min), []byte(chunk.Max)
	d.record.Before = toVersionDoc(chunk.Version)
	d.sessions = newSessionSource(d.s, d.record.NS, d.record.Range())
	d.capture = &changeCapture{
		rng:      d.record.Range(),
		pattern:  coll.Key,
		sessions: d.sessions,
	}
	d.clone = &cloneList{}
}

// giveUp ends a failed migration in memory and leaves the rest, which may take long, to a recovery
// of its own. Before the commit was sent the outcome is aborted; afterwards it is open, and nothing
// may be served until it is known.
func (d *donorMigration) giveUp() {
	s := d.s
	if s.donor != d {
		return // the term is over; the next primary recovers
	}
	if !s.profile.CoordinatesMigrations() {
		d.giveUp42()
		return
	}
	if d.state == donorCommittingOnConfig {
		d.collection.Clear()
		d.collection.BeginRecovery(d.record.Migration)
	}
	d.detach()
	if d.written {
		s.recover(d.unfinished())
	}
	d.become(donorDone)
}

// unfinished is what is left to be done on both sides.
func (d *donorMigration) unfinished() *migrationRecovery {
	rec := &migrationRecovery{s: d.s, record: d.record, release: d.release}
	if d.state < donorCommittingOnConfig {
		rec.record.Decision, rec.ordinary = Aborted, true
		d.s.cancelClone(rec.record)
	}
	return rec
}

// detach ends capture and critical section.
func (d *donorMigration) detach() {
	if d.capture != nil {
		d.collection.ClearDonor(d.capture)
		d.sessions.close()
	}
	d.collection.Leave(d.holder())
	d.accountSection()
}

func (d *donorMigration) holder() shard.Holder {
	return shard.Holder{Actor: trace.Donor, ID: d.record.Migration}
}

func (d *donorMigration) become(state donorState) {
	d.state = state
	r := &d.record
	e := trace.DonorAdvancedEvent{
		Shard:     r.Donor,
		Peer:      r.Recipient,
		NS:        r.NS,
		Min:       string(r.Min),
		Max:       string(r.Max),
		Migration: r.Migration,
		State:     state,
	}
	if state == donorCommittingOnConfig {
		v := r.Before.version()
		e.Chunks = []trace.Chunk{{
			Min:   string(r.ChunkMin),
			Max:   string(r.ChunkMax),
			Shard: r.Donor,
			Major: v.Major,
			Minor: v.Minor,
			Epoch: v.Epoch,
		}}
	}
	d.s.node.Emit(e.Event())
}

// live returns an error when the donor migration is not, or not any more, the one that a session
// means.
func (d *donorMigration) live() error {
	if d.over || d.s.donor != d {
		return errcode.New(errcode.StaleSession, "migration %s has ended", d.record.Migration)
	}
	return nil
}

func (d *donorMigration) commitTimeout() time.Duration { return 3 * d.s.settings.CommandTimeout }
