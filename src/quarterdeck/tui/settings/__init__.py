"""The parts of the settings screen that do not paint: reading, saving, keeping edits, checks, import and export."""
