"""Load the plugin from this checkout where the environment has not already done so."""

pytest_plugins = ["pytest_amap.plugin"]
