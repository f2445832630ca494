package scenario

// PutSetting: a document of config.settings is replaced by one with these fields.
const PutSetting CommandKind = "put-setting"

var _ = DeclareCommand(60, PutSetting, document, fields)

// settingsDocuments are the documents of config.settings with the fields that a scenario can give
// them.
var settingsDocuments = map[string][]string{
	"balancer":  {"mode", "activeWindow", "throttle", "waitForDelete", "jumbo"},
	"chunksize": {"bytes"},
	"autosplit": {"enabled"},
	"automerge": {"enabled"},
}
