package shard

import (
	"github.com/shardproof/shardproof/system/command"
	"github.com/shardproof/shardproof/system/env"
)

func (s *Server) hello(env.Task, env.NodeID, *command.Hello) (*command.HelloReply, error) {
	m := s.cfg.Member
	return &command.HelloReply{
		Writable: m.IsPrimary(),
		Primary:  string(m.PrimaryHint()),
		Term:     m.Term(),
		Applied:  m.Applied(),
		Majority: m.Committed(),
	}, nil
}

func (s *Server) stepDown(t env.Task, _ env.NodeID, _ *command.StepDown) (*command.Done, error) {
	if err := s.cfg.Member.NeedPrimary(); err != nil {
		return nil, err
	}
	if err := s.cfg.Member.StepDown(t); err != nil {
		return nil, err
	}
	return &command.Done{}, nil
}
