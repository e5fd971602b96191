"""How a setup step says that it could not do or could not observe its work."""


class StepFailed(Exception):
    """One sentence: what was expected, what was seen, what to do next."""


class StepRefused(StepFailed):
    """A gate that does not let the run go on."""
