package commandkind

// PutSetting: fields of a document of config.settings are set, and the others stay as they are.
const PutSetting Name = "put-setting"

var _ = Declare(60, PutSetting, Document, Fields)

// NoValue removes a field.
const NoValue = "none"

// SettingsDocuments are the documents of config.settings with the fields that a PutSetting can give
// them.
var SettingsDocuments = map[string][]string{
	"balancer":  {"mode", "activeWindow", "throttle", "waitForDelete", "jumbo"},
	"chunksize": {"bytes"},
	"autosplit": {"enabled"},
	"automerge": {"enabled"},
}
