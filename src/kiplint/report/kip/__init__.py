"""What the text of KIPs says, as people and programs are told."""
