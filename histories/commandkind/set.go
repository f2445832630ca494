package commandkind

// SetParameter: every server that runs changes the setting.
const SetParameter Name = "set"

var _ = Declare(10, SetParameter, SettingName, SettingValue)
