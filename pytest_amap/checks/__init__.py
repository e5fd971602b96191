"""One check a module: what it saw, the plan, how it looks, how it judges."""
