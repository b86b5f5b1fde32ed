"""The parts of the settings form."""
