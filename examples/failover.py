"""Kills the node that a client uses, and shows what the client notices: nothing but another target."""

from hanaming import HAContext, Node

with Node("n1") as n1:
    n2 = Node("n2", seeds=[n1.address])
    for node in (n1, n2):
        node.local.bind("orders", "http://10.0.0.5:8080")

    with HAContext([n1.url, n2.url]) as ctx:
        print("found:", ctx.lookup("orders"))
        n2.close()
        for _ in range(100):
            assert ctx.lookup("orders") == "http://10.0.0.5:8080"
        print("100 lookups after n2 was closed, none failed; the last one:")
        for attempt in ctx.explain():
            print(" ", attempt.target, attempt.phase, attempt.outcome)
