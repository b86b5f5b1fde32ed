"""The data that is sent and received: frozen models and enumerations, one file per noun."""
