"""Container images of the rehearsal host: a record and the files an image adds over the host's /usr."""
