package commandkind

// PutSetting: a document of config.settings is replaced by one with these fields.
const PutSetting Name = "put-setting"

var _ = Declare(60, PutSetting, Document, Fields)

// SettingsDocuments are the documents of config.settings with the fields that a PutSetting can give
// them.
var SettingsDocuments = map[string][]string{
	"balancer":  {"mode", "activeWindow", "throttle", "waitForDelete", "jumbo"},
	"chunksize": {"bytes"},
	"autosplit": {"enabled"},
	"automerge": {"enabled"},
}
