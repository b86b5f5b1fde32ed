"""What makes sandboxes: processes of this machine, or rows that change by themselves."""
