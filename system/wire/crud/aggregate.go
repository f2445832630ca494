package crud

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
	"github.com/shardproof/shardproof/system/errcode"
	"github.com/shardproof/shardproof/system/pipeline"
	"github.com/shardproof/shardproof/system/wire/cursor"
	"github.com/shardproof/shardproof/system/wire/reply"
	"github.com/shardproof/shardproof/system/wire/request"
)

// aggregate runs a pipeline over what its first stage reads: a leading $match is the filter that
// the shards evaluate, everything else is done here.
func (s *Service) aggregate(t env.Task, r *request.Request) (bson.D, error) {
	stages, err := stagesOf(r)
	if err != nil {
		return nil, err
	}
	options, err := r.Document("cursor")
	if err != nil {
		return nil, err
	}
	size, err := request.Int(options, "batchSize", firstBatch)
	if err == nil {
		err = notNegative(size)
	}
	if err != nil {
		return nil, err
	}
	if len(stages) > 0 && request.Has(stages[0], "$changeStream") {
		return s.watch(t, r, stages, int(size))
	}
	out, err := takeOutput(r, &stages)
	if err != nil {
		return nil, err
	}
	find, docs, err := s.input(t, r, &stages)
	if err != nil {
		return nil, err
	}
	if out != nil && find.Concern == command.Linearizable {
		return nil, errcode.New(reply.InvalidOptions,
			"a pipeline that writes cannot read with read concern linearizable")
	}
	if docs, err = pipeline.Run(stages, docs); err != nil {
		return nil, err
	}
	unsatisfied := ""
	if out != nil {
		if unsatisfied, err = out.write(t, s, r, docs); err != nil {
			return nil, err
		}
		docs = nil
	}
	answer, err := s.first(t, openAt(find.NS, cursor.List(docs), find.At), int(size), false)
	if err == nil && unsatisfied != "" {
		answer = append(answer, reply.ConcernError(unsatisfied))
	}
	return answer, err
}

// stagesOf are the stages of the command, with its variables.
func stagesOf(r *request.Request) ([]bson.Raw, error) {
	stages, err := r.Documents("pipeline")
	if err != nil {
		return nil, err
	}
	vars, err := variables(r)
	return vars.Stages(stages), err
}

// input returns the documents that the pipeline begins with; it removes the stages that have been
// applied to them already.
func (s *Service) input(
	t env.Task, r *request.Request, stages *[]bson.Raw,
) (find *command.Find, docs []bson.Raw, err error) {
	if _, whole := r.Value("aggregate").AsInt64OK(); whole {
		return &command.Find{NS: r.DB + ".$cmd.aggregate"}, nil, s.withoutCollection(*stages)
	}
	ns, err := r.Collection()
	if err != nil {
		return nil, nil, err
	}
	if find, err = s.readOptions(r, ns); err != nil {
		return nil, nil, err
	}
	if len(*stages) > 0 {
		filter, err := request.Document((*stages)[0], "$match")
		if err != nil {
			return nil, nil, err
		}
		if filter != nil {
			find.Filter, *stages = filter, (*stages)[1:]
		}
	}
	docs, err = s.collect(t, find)
	return find, docs, err
}

// withoutCollection refuses a pipeline on a whole database unless its first stage needs no
// collection: $documents, or one of the lists of sessions and operations, which are empty here.
func (s *Service) withoutCollection(stages []bson.Raw) error {
	if len(stages) > 0 {
		for _, name := range []string{
			"$documents", "$listLocalSessions", "$currentOp", "$listSessions",
		} {
			if request.Has(stages[0], name) {
				return nil
			}
		}
	}
	return errcode.New(reply.InvalidNamespace,
		"the first stage needs a collection, and the command names none")
}
