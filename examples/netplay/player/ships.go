package player

import (
	"fmt"
	"strings"

	"github.com/parley-go/parley/machines/netplay"
)

// ParseShip reads the name of a ship as the specification has it, in any
// case and with or without hyphens (kohr-ah); "-" is an empty slot.
func ParseShip(s string) (netplay.Ship, error) {
	if s == "-" {
		return netplay.ShipVacant, nil
	}
	plain := strings.ToLower(strings.ReplaceAll(s, "-", ""))
	for v := netplay.ShipVacant; v <= netplay.ShipZoq; v++ {
		if strings.ToLower(v.String()) == plain {
			return v, nil
		}
	}
	return 0, fmt.Errorf("no ship is called %q; there are - (empty) and %s", s, shipList())
}

func shipList() string {
	names := make([]string, 0, netplay.ShipZoq)
	for v := netplay.ShipVacant + 1; v <= netplay.ShipZoq; v++ {
		names = append(names, v.String())
	}
	return strings.Join(names, ", ")
}

// ParseFleet reads names of ships separated by commas, for the slots from 0 on.
func ParseFleet(s string) ([]netplay.Ship, error) {
	var fleet []netplay.Ship
	for name := range strings.SplitSeq(s, ",") {
		ship, err := ParseShip(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		fleet = append(fleet, ship)
	}
	if len(fleet) > Slots {
		return nil, fmt.Errorf("the fleet has %d ships, there are %d slots", len(fleet), Slots)
	}
	return fleet, nil
}

// own and other index pairs of things, as the machine's parts keyed by a truth value are.
const (
	other = 0
	own   = 1
)

// living is the set of slots of a fleet that are not empty.
func living(fleet *[Slots]netplay.FleetPart) netplay.Picks {
	var set netplay.Picks
	for s := range fleet {
		if fleet[s].Own != netplay.ShipVacant {
			set = set.With(netplay.Slot(s))
		}
	}
	return set
}
