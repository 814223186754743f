"""A portable conformance suite for agentprocess servers: `python -m conformance URL --credentials FILE`.

It is a client like any other: it needs a server's address, credentials of two agents, two people and an
operator, and a way to publish its own process files. It imports nothing of any server.
"""
