"""What is kept on this machine from one run to the next: never a secret, never anything a server should hold."""
