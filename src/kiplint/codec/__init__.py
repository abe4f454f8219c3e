"""Bytes by layout: what any version of any message looks like on the wire, read and written."""
