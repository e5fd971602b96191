"""One confined box: a sandbox, a container or a build step, from one description of what is mounted and allowed."""
