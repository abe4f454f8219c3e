"""Rolling upgrades from one release to another."""
