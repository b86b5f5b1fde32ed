"""The parts of the screen of one conversation: its head, its log, what the agent asks, what a person says."""
