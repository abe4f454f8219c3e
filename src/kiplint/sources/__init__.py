"""Where schema sets come from: directories and files, git revisions, archives, standard input."""
