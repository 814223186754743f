"""The judge API: what somebody hands in, held against facts, evidence and criteria. docs/judge.md tells it all."""
