package player

// Disturb makes a side's simulation differ from the other's.
func Disturb(c *Config) { c.disturbed = true }
