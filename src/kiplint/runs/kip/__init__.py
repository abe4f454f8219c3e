"""KIPs: the definitions in their text, checked, compared with a release, and with the code."""
