"""The tables of a lake, one module each: columns as data, a checked frame, and the transforms that make it."""
