package rpc

import "github.com/shardproof/shardproof/system/codec"

func init() { codec.Register[Envelope]() }
