"""`amap`: one word each for what is done by hand, without a run."""
