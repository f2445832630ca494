package scenario

// SetParameter: every server that runs changes the setting.
const SetParameter CommandKind = "set"

var _ = DeclareCommand(10, SetParameter, settingName, settingValue)
