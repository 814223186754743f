"""Kills at random under load, and the proof from the clients' own records. `make chaos`, see `__main__`."""
