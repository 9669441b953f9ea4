"""Query in, brief out: what should the agent know before it starts?"""
